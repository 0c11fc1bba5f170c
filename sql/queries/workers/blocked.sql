-- Workers that live and have had a problem for more than a minute, the longest first; shorter ones end by themselves and
-- are not reported.
-- Params: $1 deadAfterS (seconds without a heartbeat after which a worker is taken for dead).
-- Never null: problem, problem_since.
select worker_id, problem, problem_since from sync.workers
where heartbeat_at >= now() - make_interval(secs => $1) and problem_since < now() - interval '1 minute'
order by problem_since, worker_id
