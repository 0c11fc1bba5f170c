-- The single definition of open problems. The overview page, `status`, `/v1/attention`, metrics and notifications
-- read it. Each scope of the catalog is counted once: as held, else failing, else overdue.

create view sync.open_holds as
select h.held_id, h.run_id, h.organization_id, h.at, l.failing_since is not null as is_failing,
  l.failing_since is null and coalesce(l.checked_at < (select kept_since from collab_store.promise), false) as is_overdue
from sync.held h
join collab_store.checked_listings l using (batch_key, kind, scope_key)
where h.resolved_at is null and l.active;
comment on view sync.open_holds is 'Held removals of listings in the catalog that are pending approval.';
comment on column sync.open_holds.held_id is 'As in sync.held.';
comment on column sync.open_holds.run_id is 'As in sync.held.';
comment on column sync.open_holds.organization_id is 'The organization of the listing.';
comment on column sync.open_holds.at is 'When the response was first received.';
comment on column sync.open_holds.is_failing is 'Whether the last check of the listing failed.';
comment on column sync.open_holds.is_overdue is 'Whether the last check did not fail and the last successful one is older than promised.';

create view sync.held_users as
select h.held_id, h.run_id, h.organization_id, m.user_id collate "C" as user_id
from sync.held h
cross join unnest(h.missing_user_ids) m (user_id);
comment on view sync.held_users is 'Users missing from the listings of sync.held. Key: held_id, user_id. A user can be missing from several listings: people are the distinct pairs of organization_id and user_id.';
comment on column sync.held_users.held_id is 'As in sync.held.';
comment on column sync.held_users.run_id is 'As in sync.held.';
comment on column sync.held_users.organization_id is 'The organization of the listing and of the user.';
comment on column sync.held_users.user_id is 'A user who is missing from the response and stays in the listing.';

create function sync.counted(n bigint, noun text) returns text
language sql immutable parallel safe
return to_char(n, 'FM999,999,999,999') || ' ' || case when n = 1 then noun when noun = 'person' then 'people' else noun || 's' end;
comment on function sync.counted(bigint, text) is 'A number with its noun: 1 scope, 1,000 scopes, 2 people.';

create function sync.attention_sentence(kind text, count bigint, part bigint, organizations bigint, organization_id text) returns text
language sql stable parallel safe
return case kind
    when 'failing' then sync.counted(count, 'scope') || ' failed at the last check, in '
    when 'overdue' then sync.counted(count, 'scope') || case count when 1 then ' was' else ' were' end || ' not checked within FRESHNESS_PROMISE, in '
    when 'never_checked' then sync.counted(count, 'scope') || case count when 1 then ' was' else ' were' end || ' never checked, in '
    when 'held' then sync.counted(part, 'person') || case part when 1 then ' is' else ' are' end || ' missing from ' || sync.counted(count, 'listing') || ', and collab-sync removed none of them, in '
    when 'rejected' then concat_ws(' and ', case when count > part then sync.counted(count - part, 'record') end,
      case when part > 0 then sync.counted(part, 'field') || case part when 1 then ' of a stored record' else ' of stored records' end end)
      || case count when 1 then ' was' else ' were' end || ' rejected, in '
  end
  || case organizations when 1 then 'organization ' || to_json(organization_id) || '.' else sync.counted(organizations, 'organization') || '.' end;
comment on function sync.attention_sentence(text, bigint, bigint, bigint, text) is 'The sentence of sync.attention for kinds that are counted by organization.';

create view sync.lock_waits as
select w.pid, w.application_name, l.waitstart as since, coalesce('worker ' || k.worker_id, w.application_name) as waiting,
  case h.pid when 0 then 'a lock of a prepared transaction'
    else format('a lock of %s (process %s, %s)', coalesce('role ' || to_json(b.usename), b.backend_type, 'a process that has ended'), h.pid,
      coalesce(to_json(nullif(b.application_name, ''))::text, 'unnamed')) end as lock,
  h.pid as holder_pid, b.xact_start as holder_since, h.waits as holder_waits
from pg_locks l
join pg_stat_activity w using (pid)
left join sync.workers k on k.application_name = w.application_name
cross join lateral (
  select p.pid, exists (select from pg_locks o where o.pid = p.pid and not o.granted) as waits
  from unnest(pg_blocking_pids(l.pid)) p (pid)
  order by waits, p.pid
  limit 1
) h
left join pg_stat_activity b on b.pid = h.pid
-- Only the application_name tells our sessions from others of the same role. Other roles may use the name too.
where not l.granted and l.waitstart < clock_timestamp() - interval '10 seconds'
  and w.datname = current_database() and w.application_name like 'collab-sync %' and has_schema_privilege(w.usesysid, 'sync', 'usage');
comment on view sync.lock_waits is 'Sessions of collab-sync whose statement has waited for a lock for more than ten seconds. Sessions for which DATABASE_URL sets an application_name are not recognized. Key: pid.';
comment on column sync.lock_waits.pid is 'Process of the session that waits.';
comment on column sync.lock_waits.application_name is 'application_name of the session that waits.';
comment on column sync.lock_waits.since is 'When the wait began.';
comment on column sync.lock_waits.waiting is 'The word worker and its worker_id in sync.workers for sessions of a worker, otherwise application_name.';
comment on column sync.lock_waits.lock is 'Whose lock it is: role, process and application_name of a session that blocks this one.';
comment on column sync.lock_waits.holder_pid is 'Process of that session, preferably one that does not wait itself; 0 for a prepared transaction.';
comment on column sync.lock_waits.holder_since is 'When the transaction of that session began; null if the role of collab-sync may not see it (pg_read_all_stats).';
comment on column sync.lock_waits.holder_waits is 'Whether that session waits for a lock itself.';

-- One row per organization for problems of organizations, one row per other problem. Only the column words contains
-- texts from outside (the service, a database).
create view sync.attention as
with scopes as (
  select c.organization_key, sum(c.scopes) filter (where c.failing_since is not null) as failing,
    min(c.failing_since) as failing_since, max(c.failing_since) as failing_latest,
    sum(c.scopes) filter (where c.failing_since is null and c.is_overdue) as overdue,
    min(c.checked_at) filter (where c.failing_since is null and c.is_overdue) as checked_at,
    sum(c.scopes) filter (where c.failing_since is null and c.checked_at is null) as never_checked
  from collab_store.checks c
  where c.failing_since is not null or c.is_overdue or c.checked_at is null
  group by 1
), open_holds as (
  -- Planned once for both that read it.
  select * from sync.open_holds
), holds as (
  select organization_id, count(*) as listings, count(*) filter (where is_failing) as failing, count(*) filter (where is_overdue) as overdue,
    min(at) as since, max(at) as latest, (array_agg(run_id order by held_id desc))[1] as run_id
  from open_holds
  group by 1
), people_held as (
  select organization_id, count(distinct user_id) as people
  from open_holds
  join sync.held_users using (held_id, organization_id)
  group by 1
), open_runs as (
  select run_id, trigger, requested_at from sync.runs where status in ('queued', 'running') and trigger <> 'refresh'
), by_organization as (
  select 'failing' as kind, o.organization_id, s.failing - coalesce(h.failing, 0) as count, s.failing_since as since, s.failing_latest as latest,
    null::bigint as part, null::uuid as run_id
  from scopes s
  join collab_store.organizations o using (organization_key)
  left join holds h using (organization_id)
  where s.failing > coalesce(h.failing, 0)
  union all
  select 'overdue', o.organization_id, s.overdue - coalesce(h.overdue, 0), s.checked_at + d.freshness_promise, s.checked_at + d.freshness_promise, null, null
  from scopes s
  cross join collab_store.definitions d
  join collab_store.organizations o using (organization_key)
  left join holds h using (organization_id)
  where s.overdue > coalesce(h.overdue, 0)
  union all
  select 'never_checked', o.organization_id, s.never_checked, null, null, null, null
  from scopes s
  join collab_store.organizations o using (organization_key)
  where s.never_checked > 0 and not exists (select from open_runs)
  union all
  select 'held', organization_id, listings, since, latest, people, run_id
  from holds
  join people_held using (organization_id)
  union all
  select 'rejected', organization_id, count(*), min(first_seen_at), max(first_seen_at), count(*) filter (where is_field), null
  from sync.unstored_records
  where is_open
  group by organization_id
), workers as (
  -- A worker without a heartbeat for 30 seconds is considered dead.
  select worker_id, started_at, problem, problem_since, settings, waiting ->> 'kind' as waits_for,
    waiting ->> 'sentence' as waiting_sentence, (waiting ->> 'since')::timestamptz as waiting_since
  from sync.workers
  where heartbeat_at >= now() - interval '30 seconds'
)
select b.kind, case b.kind when 'failing' then 'high' when 'overdue' then 'high' when 'never_checked' then 'low' else 'medium' end as urgency,
  b.organization_id, b.count::bigint as count, b.since, b.latest,
  sync.attention_sentence(b.kind, b.count::bigint, b.part, 1, b.organization_id) as sentence,
  case b.kind
    when 'failing' then coalesce('`collab-sync run --failed-of ' || left(f.run_id::text, 8) || '` retries the failed scopes.', '`collab-sync run` syncs everything.')
    when 'held' then format('`collab-sync accept %1$s --dry-run` lists the missing users. Run `collab-sync accept %1$s` or `collab-sync refuse %1$s --reason TEXT`.', left(b.run_id::text, 8))
    when 'rejected' then '`collab-sync rejected` lists what to correct at the service or to set aside.'
    else '`collab-sync run` syncs everything now.' end as fix,
  case b.kind
    when 'failing' then coalesce('/runs/' || f.run_id, '/organizations')
    when 'held' then '/held'
    when 'rejected' then '/held#rejected'
    else '/organizations' end as path,
  null::text as words, b.part
from by_organization b
left join lateral (
  select run_id from sync.failures
  where organization_id = b.organization_id and resolved_at is null
  order by failure_id desc
  limit 1
) f on b.kind = 'failing'
union all
select case i.state when 'held' then 'catalog_held' else 'catalog_failed' end, case i.state when 'failed' then 'high' else 'medium' end, null, 1, i.at, i.last_seen_at,
  case i.state
    when 'held' then format('Import %s of the catalog is held: it lacks %s of %s. Nothing was changed.', i.import_id, i.lacking, sync.counted(i.scopes, 'scope'))
    when 'refused' then format('The catalog is unchanged: import %s was refused, and its source still lacks the same %s.', i.import_id, sync.counted(i.lacking, 'scope'))
    else 'The source of the catalog cannot be read. The catalog is unchanged.' end,
  case i.state
    when 'held' then format('`collab-sync catalog show` lists them. Run `collab-sync accept --catalog %1$s` or `collab-sync refuse --catalog %1$s`.', i.import_id)
    when 'failed' then '`collab-sync catalog refresh` tries again.'
    else 'Import a complete list. To deactivate what this one lacks: '
      || case i.source when 'CATALOG_SQL' then '`collab-sync catalog refresh --accept-all`.' else '`collab-sync catalog import FILE --prune --accept-all`.' end end,
  '/organizations', i.problem, null
from sync.catalog_imports i
where i.state = 'held'
  or (
    (i.state = 'failed' or (i.state = 'refused' and i.last_seen_at > i.decided_at))
    and not exists (
      select from sync.catalog_imports later
      where (later.source = i.source or (later.state = 'applied' and later.prunes is not null))
        and (later.last_seen_at, later.import_id) > (i.last_seen_at, i.import_id)
    )
  )
union all
select 'worker_blocked', 'high', null, count(*), min(problem_since), max(problem_since),
  sync.counted(count(*), 'worker') || ' cannot work.', '`collab-sync doctor` checks the connections.', '/workers',
  (array_agg(worker_id || ': ' || problem order by problem_since, worker_id))[1], null
from workers
where problem is not null
having count(*) > 0
union all
select 'no_worker', 'high', null, 1, s.since, s.since,
  case when r.runs > 0 then 'No worker is alive: ' || case r.runs when 1 then 'a run waits for one.' else sync.counted(r.runs, 'run') || ' wait for one.' end
    else 'No worker is alive to start the nightly run.' end,
  'Start one: `collab-sync worker`.', '/workers', null, null
from collab_store.definitions d
cross join (select count(*) as runs, min(requested_at) as first_at from open_runs) r
cross join lateral (
  select greatest(d.worker_left_at, (select max(heartbeat_at) from sync.workers), r.first_at) as since
) s
where not exists (select from workers) and (r.runs > 0 or d.next_due_at is not null)
union all
-- Nobody has removed the schedule, and no worker has ever registered it.
select 'no_worker', 'low', null, 1, null, null, 'No worker has started yet, so nothing starts the nightly run.',
  'Start one: `collab-sync worker`. If cron starts your runs, `collab-sync schedule remove` ends this message.', '/schedule', null, null
from collab_store.definitions d
where d.next_due_at is null and not exists (select from workers) and not exists (select from open_runs)
  and not exists (select from sync.schedule) and exists (select from collab_store.organizations where active)
union all
select 'nightly_missed', 'high', null, 1, n.due_at, n.due_at,
  'The nightly run that was due at ' || to_char(n.due_at at time zone d.schedule_time_zone, 'YYYY-MM-DD HH24:MI') || ' (' || d.schedule_time_zone || ') has not started.',
  '`collab-sync run` syncs everything now.', '/schedule', null, null
from collab_store.definitions d
cross join lateral (
  select due_at, missed_at from sync.nights
  where late_at < now() and due_at >= d.schedule_since
  order by due_at desc
  limit 1
) n
where n.missed_at < now()
  and not exists (select from open_runs where trigger = 'schedule')
  -- As in reporting.nightly, because clocks differ.
  and not exists (select from sync.runs where trigger = 'schedule' and requested_at >= n.due_at - interval '30 seconds')
union all
select 'nightly_late', 'high', null, 1, r.counts_from + make_interval(secs => u.seconds), r.requested_at,
  format('The nightly run has taken %s so far. It usually takes %s.', date_trunc('minute', now() - r.requested_at), date_trunc('minute', make_interval(secs => u.seconds))),
  '`collab-sync status ' || left(r.run_id::text, 8) || '` shows its progress and what it waits for.', '/runs/' || r.run_id, null, null
from (
  -- A pause that a user ordered does not count.
  select *, greatest(requested_at, (select max(paused_until) from sync.pauses)) as counts_from from open_runs
) r
cross join collab_store.definitions d
cross join (
  select count(*) as runs, percentile_cont(0.5) within group (order by extract(epoch from finished_at - requested_at)::float8) as seconds
  from (
    select requested_at, finished_at from sync.runs
    where trigger = 'schedule' and status in ('succeeded', 'partial')
      and requested_at >= coalesce((select set_at from sync.schedule), '-infinity')
    order by requested_at desc
    limit 14
  ) past
) u
where r.trigger = 'schedule' and u.runs >= 3 and now() > r.counts_from + make_interval(secs => 1.5 * u.seconds) + d.late_after
union all
select r.stopped_for, 'high', null, 1, r.finished_at, r.finished_at,
  case r.stopped_for
    when 'credentials' then 'The service refuses COLLAB_API_KEY or COLLAB_AUTH_TOKEN.'
    else 'The service could not be reached.' end,
  '`collab-sync doctor` checks the connection to the service.', '/runs/' || r.run_id, r.problem, null
from (
  select run_id, stopped_for, finished_at, problem from sync.runs
  where finished_at is not null and (calls > 0 or stopped_for is not null)
  order by requested_at desc
  limit 1
) r
where r.stopped_for is not null
  and not exists (select from collab_store.batches where checked_at > r.finished_at)
union all
select 'throttled', 'medium', null, count(*), min(waiting_since), max(waiting_since),
  'The service throttles calls, or does not respond: ' || case count(*) when 1 then '1 worker waits.' else sync.counted(count(*), 'worker') || ' wait.' end,
  'Lower SYNC_RATE_LIMIT if this continues.', '/workers', (array_agg(waiting_sentence order by waiting_since, worker_id))[1], null
from workers
where waits_for in ('throttled', 'away') and waiting_since < now() - interval '1 minute'
having count(*) > 0
union all
select 'refresh_paused', 'medium', null, 1, paused_since, paused_since, 'Continuous refresh is paused.',
  '`collab-sync doctor` checks the connection to the service.', '/runs', reason, null
from sync.refresh_state
where paused_until > now() - interval '1 minute'
union all
select 'paused_by_person', 'low', null, 1, p.paused_at, p.paused_at,
  'The calls to the service are paused until ' || to_char(p.paused_until at time zone d.schedule_time_zone, 'YYYY-MM-DD HH24:MI') || ' (' || d.schedule_time_zone || ').',
  '`collab-sync resume` ends the pause.', '/#calls', 'By ' || p.paused_by || coalesce(': ' || p.reason, '.'), null
from sync.current_pause p
cross join collab_store.definitions d
union all
select 'lock_wait', 'medium', null, waits, since, latest,
  format('A statement of %s waits for %s.', waiting, lock)
    || case when waits > 1 then format(' In all, %s of collab-sync wait for locks.', sync.counted(waits, 'statement')) else '' end,
  case holder_pid when 0 then '`select * from pg_prepared_xacts` lists prepared transactions. Wait, or end it with `rollback prepared`.'
    else format('Wait, or end that process with `select pg_terminate_backend(%s)`.', holder_pid) end,
  '/runs', 'Its transaction began at ' || to_char(holder_since at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC.', null
from (
  select count(*) over () as waits, min(since) over () as since, max(since) over () as latest, waiting, lock, holder_pid, holder_since
  from sync.lock_waits
  order by holder_waits, lock_waits.since
  limit 1
) l
union all
select 'settings_differ', 'medium', null, count(*), max(started_at), max(started_at),
  'Workers have different settings: ' || string_agg(name, ', ' order by name) || '.',
  'Give all workers the same settings and restart them.', '/workers', null, null
from (
  select s.name, max(w.started_at) as started_at
  from workers w
  cross join lateral jsonb_each(w.settings) s (name, value)
  group by s.name
  having count(distinct s.value) > 1
) s
having count(*) > 0
union all
select 'catalog_empty', 'medium', null, 1, null, null, 'The catalog is empty: there is nothing to sync.',
  '`collab-sync catalog import FILE` fills it.', '/organizations', null, null
where not exists (select from collab_store.organizations where active);
comment on view sync.attention is 'What is wrong now, as reporting.attention, with the messages of others. Key: kind, organization_id.';
comment on column sync.attention.kind is 'As in reporting.attention.';
comment on column sync.attention.urgency is 'As in reporting.attention.';
comment on column sync.attention.organization_id is 'As in reporting.attention.';
comment on column sync.attention.count is 'As in reporting.attention.';
comment on column sync.attention.since is 'As in reporting.attention.';
comment on column sync.attention.latest is 'As in reporting.attention.';
comment on column sync.attention.sentence is 'As in reporting.attention.';
comment on column sync.attention.fix is 'As in reporting.attention.';
comment on column sync.attention.path is 'As in reporting.attention.';
comment on column sync.attention.words is 'Message of the service, a database or a worker, who ordered a pause and why, or when the transaction that has a lock began; null if there is none.';
comment on column sync.attention.part is 'A second count of the sentence: for held, people who are missing from the listings; for rejected, the fields among its count. Null for other kinds.';

create view sync.attention_by_kind as
select a.kind, min(a.urgency) as urgency, sum(a.count)::bigint as count, count(a.organization_id) as organizations,
  min(a.since) as since, max(a.latest) as latest,
  case when count(*) = 1 then min(a.sentence)
    else sync.attention_sentence(a.kind, sum(a.count)::bigint, sum(a.part)::bigint, count(a.organization_id), null) end as sentence,
  (array_agg(a.fix order by a.latest desc, a.organization_id))[1] as fix,
  (array_agg(a.path order by a.latest desc, a.organization_id))[1] as path,
  (array_agg(a.words order by a.latest desc))[1] as words,
  to_jsonb((array_agg(jsonb_build_object('organizationId', a.organization_id, 'count', a.count) order by a.count desc, a.organization_id)
    filter (where a.organization_id is not null))[1:5]) as first
from sync.attention a
group by a.kind;
comment on view sync.attention_by_kind is 'sync.attention aggregated by kind.';
comment on column sync.attention_by_kind.kind is 'As in reporting.attention.';
comment on column sync.attention_by_kind.urgency is 'As in reporting.attention.';
comment on column sync.attention_by_kind.count is 'Sum of the counts.';
comment on column sync.attention_by_kind.organizations is 'Number of organizations; 0 if the whole installation is affected.';
comment on column sync.attention_by_kind.since is 'When the first of the problems began; null if unknown.';
comment on column sync.attention_by_kind.latest is 'When one of them last grew.';
comment on column sync.attention_by_kind.sentence is 'As in reporting.attention.';
comment on column sync.attention_by_kind.fix is 'As in reporting.attention.';
comment on column sync.attention_by_kind.path is 'As in reporting.attention. For failing scopes: the page of the run that failed last.';
comment on column sync.attention_by_kind.words is 'As in sync.attention.';
comment on column sync.attention_by_kind.first is 'The five organizations with the highest counts: organizationId and count.';

create view reporting.attention as
select kind, urgency, organization_id, count, since, latest, sentence, fix, path
from sync.attention;
comment on view reporting.attention is 'Open problems that need action. Key: kind, organization_id.';
comment on column reporting.attention.kind is 'By organization: failing, scopes whose last fetch failed; overdue, scopes not checked within FRESHNESS_PROMISE; never_checked, scopes without any check, while no run is in progress; held, listings whose removal of users waits for approval; rejected, records and fields that could not be stored. For the whole installation: catalog_held, an import of the catalog that waits for approval; catalog_failed, the source of the catalog cannot be read, or still returns a list that was refused; worker_blocked, workers that cannot reach the queue or the service; no_worker, no worker is running for a run or for the nightly schedule, or none has ever started; nightly_missed, the last nightly run did not start; nightly_late, the nightly run takes much longer than usual; credentials, the service refuses key or token; unreachable, the last run ended because the service could not be reached; throttled, workers wait because the service throttles calls or does not respond; refresh_paused, continuous refresh is paused; paused_by_person, a user paused all calls to the service; lock_wait, statements of collab-sync have waited for a lock for more than ten seconds; settings_differ, workers have different settings; catalog_empty, there is nothing to sync.';
comment on column reporting.attention.urgency is 'high, medium or low.';
comment on column reporting.attention.organization_id is 'The service''s organizationId; null if the whole installation is affected.';
comment on column reporting.attention.count is 'Number of scopes, listings, records, workers, statements or settings.';
comment on column reporting.attention.since is 'When the problem began; null if unknown.';
comment on column reporting.attention.latest is 'When the problem last grew.';
comment on column reporting.attention.sentence is 'Describes the problem.';
comment on column reporting.attention.fix is 'What an operator can do about it.';
comment on column reporting.attention.path is 'Page of `collab-sync serve` that shows it.';
