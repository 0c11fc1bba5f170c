-- What live workers wait for, by kind, longest wait first: those with pending items of a run, and those that cannot
-- accept its jobs, because of the queue, of a lock or of a user's pause, or wait to repeat one; without a run, all. The sentence is that
-- of the worker that has waited longest, and includes how many workers wait for the same if others do not.
-- Params: $1 runId?, $2 deadAfterS (seconds without a heartbeat after which a worker is considered dead).
-- Never null: kind, since, sentence, workers, of_workers.
with asked as (
  select waiting ->> 'kind' as kind, (waiting ->> 'since')::timestamptz as since, waiting,
    count(*) over ()::int as of_workers
  from sync.workers
  where heartbeat_at >= now() - make_interval(secs => $2)
    and ($1::uuid is null or waiting ->> 'kind' in ('queue', 'lock', 'paused_by_person') or waiting ->> 'runId' = $1::text
      or worker_id in (select worker_id from sync.run_items where run_id = $1 and state = 'pending'))
), by_kind as (
  select distinct on (kind) kind, since, (waiting ->> 'until')::timestamptz as until,
    (waiting ->> 'givesUpAt')::timestamptz as gives_up_at, waiting ->> 'sentence' as sentence,
    count(*) over (partition by kind)::int as workers, of_workers
  from asked
  where kind is not null
  order by kind, since
)
select kind, since, until, gives_up_at, workers, of_workers,
  case when workers < of_workers then format('%s of %s workers: ', workers, of_workers) else '' end || sentence as sentence
from by_kind
where $1 is null or kind not in ('idle', 'refresh_paused')
order by since, kind
