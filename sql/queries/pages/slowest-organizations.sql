-- The organizations that took a run longest, with the run's counts for them.
-- Params: $1 runId, $2 limit.
-- Never null: calls, retries, service_ms, waited_ms, waited_throttled_ms, database_ms.
select o.organization_id, sum(i.calls)::bigint as calls, sum(i.retries)::bigint as retries,
  sum(i.service_ms)::bigint as service_ms, sum(i.waited_ms)::bigint as waited_ms,
  sum(i.waited_throttled_ms)::bigint as waited_throttled_ms,
  sum(i.database_ms)::bigint as database_ms
from sync.run_items i
join collab_store.organizations o using (organization_key)
where i.run_id = $1 and i.calls > 0
group by o.organization_key
order by sum(i.service_ms + i.waited_ms + i.waited_throttled_ms + i.database_ms) desc, o.organization_key
limit $2
