-- The calls of a run over its duration so far, in equal parts, including parts without calls. The calls of an item
-- count when it finished or was last claimed. No row if no call was counted yet.
-- Params: $1 runId, $2 parts.
-- Never null: from_ms, calls, retries.
with items as (
  select calls, retries, service_ms, coalesce(finished_at, now()) as ended_at
  from sync.run_items
  where run_id = $1 and calls > 0
), span as (
  select r.started_at as begun_at,
    greatest(extract(epoch from coalesce(r.finished_at, now()) - r.started_at), 0.001)::float8 as seconds
  from sync.runs r
  where r.run_id = $1 and r.started_at is not null and exists (select from items)
), placed as (
  select least(width_bucket(extract(epoch from i.ended_at - s.begun_at)::float8, 0, s.seconds, $2), $2) - 1 as part,
    i.calls, i.retries, i.service_ms
  from items i, span s
)
select part * s.seconds * 1000 / $2 as from_ms, coalesce(sum(p.calls), 0)::int as calls,
  coalesce(sum(p.retries), 0)::int as retries, (sum(p.service_ms) / sum(p.calls))::float8 as mean_ms
from span s
cross join generate_series(0, $2 - 1) part
left join placed p using (part)
group by part, s.seconds
order by part
