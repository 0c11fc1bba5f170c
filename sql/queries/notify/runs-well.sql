-- Marks as well what was reported of runs whose work has succeeded since: by a run of the whole catalog, by one of the same
-- scope that was about as large, or by one of just as many scopes as had failed (run --failed-of) where it rejected no whole record.
-- Params: none.
-- Never null: finished_at, problems.
with catalog as (
  select coalesce(sum(b.scopes), 0) as scopes
  from collab_store.batches b join collab_store.organizations o using (organization_key)
  where o.active
), well as (
  update sync.notifications n
  set well_at = now()
  from sync.runs bad
  cross join lateral (
    select g.run_id, g.trigger, g.finished_at
    from sync.runs g
    where g.status = 'succeeded' and g.requested_at > bad.requested_at
      and case when g.scope = '{}'
        then (g.scopes_planned = bad.scopes_failed and bad.records_lost = 0) or g.scopes_planned >= 0.9 * (select scopes from catalog)
        else g.scope = bad.scope and g.scopes_planned >= 0.9 * bad.scopes_planned
      end
    order by g.requested_at desc
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
