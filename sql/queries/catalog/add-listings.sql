-- Adds new listings. In an existing batch, the batch's time of the last check does not apply to them, because a run in
-- progress has not fetched them.
-- Params: none.
with added as (
  insert into collab_store.listings (batch_key, scope_no, operation, kind, scope_key, active, own_checked_at)
  select b.batch_key, s.number % 256, b.operation, s.kind, s.scope_key, s.active,
    case when b.assigned > 0 then timestamptz '-infinity' end
  from import_new_listings s
  join collab_store.batches b on b.organization_key = s.organization_key
    and b.operation = s.operation and b.batch_no = s.number / 256
  order by b.batch_key, s.number
  returning batch_key
)
insert into import_touched_batches select distinct batch_key from added;
