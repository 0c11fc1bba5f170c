-- Hands threads of a pass, or batches, to a worker.
-- Params: $1 class, $2 pass, $3 passStartedAt?, $4 passSnapshot?, $5 fromActiveAt?, $6 fromKey?, $7 toActiveAt?, $8 toKey?, $9
-- batchKeys?, $10 workerId, $11 at.
insert into sync.refresh_pages (class, pass, pass_started_at, pass_snapshot, from_active_at, from_key, to_active_at, to_key,
  batch_keys, worker_id, claimed_at)
values ($1, $2, $3, $4::text::xid8, $5, $6, $7, $8, $9, $10, $11)
returning page_id
