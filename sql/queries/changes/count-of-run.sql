-- Counts what a run changed, by object and kind of change; no row if there is no such run, one row without an object if it
-- changed nothing. An object that the run changed twice counts twice, as in the counts of sync.runs. Times are only bounds for the
-- index: an hour more on both sides, because the clock may have been set back.
-- Params: $1 runId, $2 objects (in the order of the counts).
-- Never null: removals_accepted.
select r.finished_at, case when p.pruned_before > r.started_at then p.pruned_before end as pruned_before,
  (select count(*)::int from sync.held h where h.run_id = r.run_id and h.resolution = 'accepted') as removals_accepted,
  n.object, n.change, n.count
from sync.runs r
cross join collab_store.changes_pruned p
left join lateral (
  select c.object, c.change, sum(c.lines) as count
  from collab_store.changes c
  where c.object = any($2::text[]) and c.run_id = r.run_id
    and c.at between r.started_at - interval '1 hour' and coalesce(r.finished_at, now()) + interval '1 hour'
  group by 1, 2
) n on true
where r.run_id = $1
order by array_position($2, n.object),
  array_position(array['added', 'edited', 'removed', 'deleted', 'restored'], n.change)
