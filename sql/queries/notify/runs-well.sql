-- Marks as well what was reported of runs whose work has succeeded since: by a run of the whole catalog, by one of the same
-- scope that was about as large, or, where all was requested and no whole record was rejected, once nothing fails any more that
-- failed in it: then the run that resolved the last of it is named, when it has ended or is a day of refresh.
-- Params: none.
-- Never null: run_id, trigger, finished_at, problems.
with catalog as (
  select coalesce(sum(b.scopes), 0) as scopes
  from collab_store.batches b join collab_store.organizations o using (organization_key)
  where o.active
), well as (
  update sync.notifications n
  set well_at = now()
  from sync.runs bad
  cross join lateral (
    (
      select g.run_id, g.trigger, g.finished_at
      from sync.runs g
      where g.status = 'succeeded' and g.requested_at > bad.requested_at and g.retry_of is null
        and case when g.scope = '{}' then g.scopes_planned >= 0.9 * (select scopes from catalog)
          else g.scope = bad.scope and g.scopes_planned >= 0.9 * bad.scopes_planned
        end
      order by g.requested_at desc
      limit 1
    )
    union all
    select g.run_id, g.trigger, coalesce(g.finished_at, last.resolved_at)
    from (
      select resolved_by, resolved_at from sync.failures
      where run_id = bad.run_id and resolved_at is not null
      order by resolved_at desc
      limit 1
    ) last
    join sync.runs g on g.run_id = last.resolved_by
    where bad.scopes_skipped = 0 and bad.records_lost = 0 and (g.finished_at is not null or g.trigger = 'refresh')
      and not exists (
        select from sync.failures f
        join sync.failing_scopes x on x.batch_key = f.batch_key and x.scope_no = f.scope_no
        where f.run_id = bad.run_id and f.resolved_at is null
      )
    limit 1
  ) good
  -- An older one is either reported by a newer one of the same scope, or nobody waits for it any more.
  where n.subject = 'run' and n.well_at is null and n.noted_at > now() - interval '7 days' and bad.run_id = n.run_id
  returning good.run_id, good.trigger, good.finished_at
)
select run_id, trigger, finished_at, count(*)::int as problems
from well
group by run_id, trigger, finished_at
order by finished_at
