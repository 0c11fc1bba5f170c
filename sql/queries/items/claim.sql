-- Claims an item for a worker; no row if it is done already, so that a job delivered twice is processed once. Bit n of
-- only_scopes is '1' if scope n is to be fetched (null: all), of done_scopes if it is committed already (null: none).
-- batch_key, operation and batch_xmin are null for paging items. If the batch's row has changed at the first commit,
-- another claim has written meanwhile, possibly an earlier one, and it is unknown whose responses are older; claim_no
-- becomes the batch's version with that commit. A later erasure than last_erasure, or a change of written_member,
-- report_time_zone or a column of privacy, also writes to the batch. None of the item's responses is older than
-- claimed_at; rows written under this claim are dated at. is_checked is true if another run claimed the whole batch
-- after this one was requested, and finished it: its scopes without a check of their own count as checked. A check in
-- the future is from before the clock was set back.
-- Params: $1 runId, $2 itemId, $3 workerId, $4 isAgain (the same worker claims it again, which is not another attempt).
-- Never null: is_checked, claim_no, claimed_at, at, report_time_zone.
-- Typed as: operation collab_store.batches.operation.
-- Prepared.
update sync.run_items i
set attempts = i.attempts + (not $4)::int, worker_id = $3, claimed_at = coalesce(i.claimed_at, now())
from sync.runs r, collab_store.definitions d
where i.run_id = $1 and i.item_id = $2 and i.state = 'pending' and r.run_id = i.run_id
returning i.kind, i.batch_key, i.round, i.attempts, i.only_scopes::text as only_scopes, i.done_scopes::text as done_scopes,
  (select b.operation from collab_store.batches b where b.batch_key = i.batch_key) as operation,
  (select b.xmin::text from collab_store.batches b where b.batch_key = i.batch_key) as batch_xmin,
  i.only_scopes is null
    and exists (
      select from collab_store.batches b where b.batch_key = i.batch_key and b.checked_at between r.requested_at and now()
    ) as is_checked,
  (select max(e.erasure_id) from sync.erasures e) as last_erasure,
  d.written_member, d.report_time_zone, d.privacy_email, d.privacy_raw, d.privacy_exclude,
  r.status as run_status, r.scope, r.stopping, r.trigger, nextval('sync.claim_no') as claim_no, i.claimed_at, now() as at
