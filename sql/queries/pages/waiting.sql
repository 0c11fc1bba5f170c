-- How much waits for a person: held listings, and rejected records that were neither stored after all nor set aside. Of
-- either, more than the most that is counted are reported as that.
-- Params: $1 limit.
-- Never null: held, rejected.
select (select count(*) from (select from sync.held where resolved_at is null limit $1) h)::int as held,
  (select count(*) from (select from sync.unstored_records where is_open limit $1) r)::int as rejected
