-- Finishes a run once, when none of its items is pending: adds up its items and sets its status. It is partial if a
-- scope failed or is held, or if a whole record was rejected that was not set aside. runs/add-calls counts its calls
-- and their throttled waits. A pending item disappears only in the transaction that inserts the items that follow it, so
-- no lock is needed. From the first run that ends with 500 records read, a field that appears is new; with fewer records,
-- rare fields may not have appeared yet.
-- Params: $1 runId, $2 problem? (some sentences).
-- Never null: duration_s.
with known as (
  update collab_store.observed_records set is_known = true where not is_known and records >= 500
)
update sync.runs r
set
  status = coalesce(r.stopping, t.status),
  started_at = coalesce(r.started_at, now()),
  finished_at = now(),
  problem = coalesce(r.problem, case when coalesce(r.stopping, t.status) <> 'succeeded' then $2 end),
  /* counts of items: {column} = t.{column} */ scopes_planned = t.scopes_planned, scopes_succeeded = t.scopes_succeeded,
    scopes_failed = t.scopes_failed, scopes_held = t.scopes_held, scopes_skipped = t.scopes_skipped,
    records_received = t.records_received, records_inserted = t.records_inserted, records_updated = t.records_updated,
    records_unchanged = t.records_unchanged, records_rejected = t.records_rejected, records_null = t.records_null,
    organizations_done = t.organizations_done, documents_done = t.documents_done, groups_done = t.groups_done,
    annotations_done = t.annotations_done, users_written = t.users_written, users_removed = t.users_removed,
    members_removed = t.members_removed, comments_written = t.comments_written, comments_deleted = t.comments_deleted,
    rejected = t.rejected, service_ms = t.service_ms, waited_ms = t.waited_ms, database_ms = t.database_ms,
    cpu_ms = t.cpu_ms, records_lost = t.records_lost /* end */
from (
  select case
      when sum(scopes_failed) > 0 and sum(scopes_succeeded + scopes_held) = 0 then 'failed'
      when sum(scopes_failed + scopes_held + records_lost) > 0 then 'partial'
      else 'succeeded'
    end as status,
    /* counts of items: coalesce(sum({column}), 0) as {column} */ coalesce(sum(scopes_planned), 0) as scopes_planned,
      coalesce(sum(scopes_succeeded), 0) as scopes_succeeded, coalesce(sum(scopes_failed), 0) as scopes_failed,
      coalesce(sum(scopes_held), 0) as scopes_held, coalesce(sum(scopes_skipped), 0) as scopes_skipped,
      coalesce(sum(records_received), 0) as records_received, coalesce(sum(records_inserted), 0) as records_inserted,
      coalesce(sum(records_updated), 0) as records_updated, coalesce(sum(records_unchanged), 0) as records_unchanged,
      coalesce(sum(records_rejected), 0) as records_rejected, coalesce(sum(records_null), 0) as records_null,
      coalesce(sum(organizations_done), 0) as organizations_done, coalesce(sum(documents_done), 0) as documents_done,
      coalesce(sum(groups_done), 0) as groups_done, coalesce(sum(annotations_done), 0) as annotations_done,
      coalesce(sum(users_written), 0) as users_written, coalesce(sum(users_removed), 0) as users_removed,
      coalesce(sum(members_removed), 0) as members_removed, coalesce(sum(comments_written), 0) as comments_written,
      coalesce(sum(comments_deleted), 0) as comments_deleted, coalesce(sum(rejected), 0) as rejected,
      coalesce(sum(service_ms), 0) as service_ms, coalesce(sum(waited_ms), 0) as waited_ms,
      coalesce(sum(database_ms), 0) as database_ms, coalesce(sum(cpu_ms), 0) as cpu_ms,
      coalesce(sum(records_lost), 0) as records_lost /* end */
  from sync.run_items where run_id = $1
) t
where r.run_id = $1 and r.finished_at is null
  and not exists (select from sync.run_items i where i.run_id = $1 and i.state = 'pending')
returning r.status, r.trigger, extract(epoch from r.finished_at - r.started_at)::float8 as duration_s
