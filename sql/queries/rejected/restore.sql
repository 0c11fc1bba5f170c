-- Reopens rejected records.
-- Params: $1 rejectedIds?, $2 runId?.
-- Never null: found, changed.
with meant as (
  select digest from sync.unstored_records
  where (rejected_record_id = any($1::bigint[]) or run_id = $2::uuid) and digest is not null
), done as (
  delete from sync.set_aside_records where digest in (select digest from meant) returning digest
)
select (select count(*) from meant)::int as found, (select count(*) from done)::int as changed
