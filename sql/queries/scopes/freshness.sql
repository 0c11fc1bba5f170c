-- Number of scopes and when they were last checked successfully. All totals read it. A stale scope is failing, not
-- tried, too old, or unchecked since a full run was stopped: these four add up to stale.
-- Params: none.
-- Never null: scopes, annotations, never_checked, not_tried, failing, stale, overdue, too_old, unchecked_since_stop, promise_s.
select coalesce(sum(c.scopes), 0)::bigint as scopes,
  coalesce(sum(c.scopes) filter (where c.operation = 'comments'), 0)::bigint as annotations,
  coalesce(sum(c.scopes) filter (where c.checked_at is null), 0)::bigint as never_checked,
  coalesce(sum(c.scopes) filter (where c.checked_at is null and c.failing_since is null), 0)::bigint as not_tried,
  coalesce(sum(c.scopes) filter (where c.failing_since is not null), 0)::bigint as failing,
  coalesce(sum(c.scopes) filter (where c.is_stale), 0)::bigint as stale,
  coalesce(sum(c.scopes) filter (where c.is_overdue), 0)::bigint as overdue,
  coalesce(sum(c.scopes) filter (where c.is_overdue and c.failing_since is null), 0)::bigint as too_old,
  coalesce(sum(c.scopes) filter (where c.is_stale and not c.is_overdue and c.failing_since is null and c.checked_at is not null), 0)::bigint
    as unchecked_since_stop,
  min(c.checked_at) as oldest_check, greatest(max(c.checked_at), (
    select max(s.last_full_pass) from sync.refresh_passes s
    where exists (select from collab_store.thread_passes p where p.class = s.class)
  )) as newest_check,
  (select extract(epoch from freshness_promise)::float8 from collab_store.definitions) as promise_s
from collab_store.checks c
