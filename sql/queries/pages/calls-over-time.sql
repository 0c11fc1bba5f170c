-- The calls of a run over its time, in equal parts: an item's calls count where it ended, or was last taken up.
-- Params: $1 runId, $2 parts.
-- Never null: part, part_seconds, calls, retries, service_ms.
with items as (
  select calls, retries, service_ms, coalesce(finished_at, now()) as ended_at
  from sync.run_items
  where run_id = $1 and calls > 0
), span as (
  select r.started_at as begun_at,
    greatest(extract(epoch from coalesce(r.finished_at, now()) - r.started_at), 0.001)::float8 as seconds
  from sync.runs r
  where r.run_id = $1 and r.started_at is not null
)
select least(width_bucket(extract(epoch from i.ended_at - s.begun_at)::float8, 0, s.seconds, $2), $2) - 1 as part,
  s.seconds / $2 as part_seconds, sum(i.calls)::int as calls, sum(i.retries)::int as retries,
  sum(i.service_ms)::bigint as service_ms
from items i, span s
group by 1, 2
order by 1
