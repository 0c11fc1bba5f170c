-- The due time of the last nightly run, if a user paused the calls after it and no scheduled run was requested since or
-- is in progress; no row while the pause lasts.
-- Params: none.
-- Never null: due_at.
-- Prepared.
select n.due_at
from collab_store.definitions d
cross join lateral (
  select max(due_at) as due_at from sync.nightly_due where due_at <= now() and due_at >= d.schedule_since
) n
where d.next_due_at is not null
  and (select max(paused_until) from sync.pauses) between n.due_at and now()
  and not exists (select from sync.runs where trigger = 'schedule' and status in ('queued', 'running'))
  -- As in reporting.nightly, because clocks differ.
  and not exists (select from sync.runs where trigger = 'schedule' and requested_at >= n.due_at - interval '30 seconds')
