-- Records that a process is alive. Its sessions are identified by their application_name, unless DATABASE_URL sets
-- another.
-- Params: $1 workerId, $2 callsInFlight, $3 mostCallsInFlight, $4 callMs? (mean time of a call), $5 problem?, $6
-- rateLimit? (its SYNC_RATE_LIMIT), $7 waiting? (its current wait), $8 settings? (those that all workers share), $9 kind,
-- $10 version?, $11 configuration?. The last four are written once.
-- Prepared.
insert into sync.processes (worker_id, started_at, heartbeat_at, calls_in_flight, calls_limit, latency_ms, problem,
  problem_since, rate_limit, waiting, settings, kind, version, configuration, application_name)
values ($1, now(), now(), $2, $3, $4, $5, case when $5::text is not null then now() end, $6, $7, $8, $9, $10, $11,
  substring(current_setting('application_name') from '^collab-sync .*[0-9a-f]{8}$'))
on conflict (worker_id) do update
set heartbeat_at = now(), calls_in_flight = $2, calls_limit = $3, latency_ms = $4, problem = $5, waiting = $7,
  problem_since = case when $5 is not null then coalesce(processes.problem_since, now()) end
