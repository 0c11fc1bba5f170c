-- Kinds of sync.attention_by_kind to report: each once, and again while open only if a later decision is pending. A
-- kind is resolved if two consecutive checks do not find it; its facts are then null, and exceptions has the open kinds
-- whose scopes it does not count. The service is not resolved as unreachable while it throttles, nor the reverse.
-- Params: none.
-- Never null: kind, exceptions, exceptions[].
-- Prepared.
with present as materialized (
  select * from sync.attention_by_kind
), reported as (
  select n.subject as kind, max((n.facts ->> 'latest')::timestamptz) as latest,
    exists (
      select from present p where p.kind = n.subject or '{throttled,unreachable}' @> array[p.kind, n.subject]
    ) as is_present
  from sync.notifications n
  where n.subject is not null and n.resolved_at is null
  group by n.subject
), marked as (
  update sync.notifications n
  set resolved_at = case when not r.is_present and n.missing_since is not null then now() end,
    missing_since = case when not r.is_present then coalesce(n.missing_since, now()) end
  from reported r
  where n.subject = r.kind and n.resolved_at is null and (not r.is_present or n.missing_since is not null)
  returning n.subject, n.resolved_at
)
select p.kind, to_jsonb(p) - '{kind,urgency}'::text[] as facts, '{}'::text[] as exceptions
from present p
left join reported r using (kind)
where p.urgency <> 'low' and (r.kind is null or (p.kind in ('held', 'rejected', 'catalog_held') and p.latest > r.latest))
  -- These often end without action, or when the last worker has restarted.
  and (
    p.kind not in ('no_worker', 'worker_blocked', 'throttled', 'unreachable', 'lock_wait', 'settings_differ')
    or coalesce(p.since, '-infinity') < now() - interval '1 minute'
  )
  -- A run in progress may find more of it or resolve it, so it is reported when that run has finished.
  and (
    p.kind not in ('failing', 'overdue', 'held', 'rejected')
    or not exists (
      select from sync.runs under_way
      where under_way.status in ('queued', 'running') and under_way.trigger not in ('hint', 'refresh')
        and under_way.requested_at < case when r.kind is null then p.since else p.latest end
    )
  )
  -- Hints and continuous refresh retry automatically until the promise is broken.
  and (
    p.kind <> 'failing'
    or exists (
      select from sync.failures f
      join sync.failing_scopes using (batch_key, scope_no)
      join sync.runs finished on finished.run_id = f.run_id
      where f.resolved_at is null and finished.finished_at is not null and finished.trigger not in ('hint', 'refresh')
    )
    or exists (select from collab_store.checks where failing_since is not null and is_overdue)
  )
union all
select distinct subject, null::jsonb,
  array(select p.kind from present p where p.kind in ('failing', 'held') and subject in ('failing', 'overdue') order by 1)
from marked
where resolved_at is not null
