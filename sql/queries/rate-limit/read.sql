-- Remaining pause of a shared rate limit; no row without a pause.
-- Params: $1 name, $2 longestMs (as in rate-limit/pause).
-- Never null: pause_ms.
-- Prepared.
select extract(epoch from paused_until - clock_timestamp())::float8 * 1000 as pause_ms
from sync.rate_limit_slots
where name = $1 and paused_until > clock_timestamp() and paused_until <= clock_timestamp() + make_interval(secs => $2::float8 / 1000)
