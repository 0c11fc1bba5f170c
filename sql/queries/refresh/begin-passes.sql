-- Begins a pass of each class whose previous pass was handed out, at least $4 seconds after its start, and counts the
-- scopes of class 7 every ten minutes. A pass that began in the future is from before the clock was set back. An empty
-- class is not written.
-- Params: $1 at, $2 snapshot, $3 operations, $4 leastS.
-- Prepared.
update sync.refresh_passes s
set pass = s.pass + d.is_hot::int, is_planned = not d.is_hot or d.threads = 0, threads = d.threads,
  before_started_at = s.started_at, started_at = $1, snapshot = case when d.is_hot then $2::text::xid8 end,
  after_active_at = d.quiet_since, after_key = 2147483647 /* above every key */
from (
  select e.*, case when e.is_hot
    then (select count(*)::int from collab_store.recent_threads where active_at > e.quiet_before and active_at <= e.quiet_since)
    else (select coalesce(sum(b.scopes), 0)::int
      from collab_store.batches b
      join collab_store.organizations o using (organization_key)
      where o.active and b.operation in (select unnest($3::text[])))
    end as threads
  from (
    select class, class < 7 as is_hot, $1::timestamptz - make_interval(secs => 240 * 4 ^ class) as quiet_before,
      $1::timestamptz - case when class = 0 then interval '0' else make_interval(secs => 240 * 4 ^ (class - 1)) end as quiet_since
    from sync.refresh_passes
    where started_at is null or started_at > $1
      or started_at <= $1 - case when class < 7 then make_interval(secs => $4) else interval '10 minutes' end and is_planned
  ) e
  offset 0 -- so that the threads are counted once
) d
where s.class = d.class and (d.threads > 0 or s.threads > 0)
