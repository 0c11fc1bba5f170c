-- The given run, or without one the last run that was no retry, if it failed before it fetched all scopes and these were
-- not fetched since. A later full run that was not stopped fetched them.
-- Params: $1 runId?, $2 organizationIds? (of the scopes).
select r.run_id
from (
  select run_id, requested_at, coalesce(started_at, requested_at) as began_at, scope -> 'organizationIds' as of,
    retry_of is not null or failing as is_retry
  from sync.runs
  where stopping = 'failed' and finished_at is not null
    and case when $1::uuid is null then retry_of is null and not failing else run_id = $1 end
  order by requested_at desc
  limit 1
) r
where not exists (
    select from sync.runs later
    where later.requested_at > r.requested_at and later.finished_at is not null and later.stopping is null
      and later.scope = '{}' and later.retry_of is null and not later.failing and later.trigger <> 'refresh'
  )
  and exists (
    select from collab_store.checks c
    join collab_store.organizations o using (organization_key)
    where (r.of is null or r.of ? o.organization_id) and ($2::text[] is null or o.organization_id = any ($2))
      and case when r.is_retry then c.failing_since is not null
        else c.failing_since is null and (c.checked_at is null or c.checked_at < r.began_at) end
  )
