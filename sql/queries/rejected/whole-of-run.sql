-- Whole records that a run rejected and that were not set aside, by its own counts, and the most frequent reason.
-- Params: $1 runId.
-- Never null: records.
select (select coalesce(sum(records_lost), 0) from sync.run_items where run_id = $1)::int as records,
  (select mode() within group (order by reason) from sync.unstored_records where run_id = $1 and is_whole and is_open) as reason
