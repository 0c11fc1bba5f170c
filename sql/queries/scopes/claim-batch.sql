-- Draws a claim for a batch that is written to without asking: answers that were asked for before now are thrown away
-- and asked for again.
-- Params: $1 batchKey.
-- Never null: claimed_at, report_time_zone.
update collab_store.batches set version = nextval('sync.claim_no') where batch_key = $1
returning version as claim_no, now() as claimed_at, (select report_time_zone from collab_store.definitions) as report_time_zone
