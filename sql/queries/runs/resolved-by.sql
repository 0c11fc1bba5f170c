-- The run that resolved what went wrong in a finished run: the one that fetched its last failing scope, if the run left
-- nothing else open (held, rejected or not requested), or else the first later run of everything that succeeded.
-- Params: $1 runId.
select coalesce(
    (select f.resolved_by from sync.failures f
      where f.run_id = r.run_id and f.resolved_at is not null and r.stopping is null and r.records_lost = 0
        and not exists (select from sync.failures o where o.run_id = r.run_id and o.resolved_at is null)
        and not exists (select from sync.held h where h.run_id = r.run_id and h.resolved_at is null)
      order by f.resolved_at desc limit 1),
    (select later.run_id from sync.runs later
      where later.requested_at > r.requested_at and later.status = 'succeeded' and later.scope = '{}'
        and later.retry_of is null and not later.failing
      order by later.requested_at limit 1)) as run_id
from sync.runs r
where r.run_id = $1 and r.status in ('partial', 'failed')
