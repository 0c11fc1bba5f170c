-- Pauses continuous refresh for twice as long as it has been paused, within limits.
-- Params: $1 at, $2 leastS, $3 mostS, $4 reason.
update sync.refresh_state
set paused_since = coalesce(paused_since, $1), reason = $4,
  paused_until = $1 + make_interval(secs => least($3::float8, greatest($2::float8, extract(epoch from $1 - coalesce(paused_since, $1)))))
where paused_until is null or paused_until <= $1
