-- A page of run keys, newest first. runs/reports reads their data.
-- Params: $1 status?, $2 beforeUs? (microseconds since 1970) and $3 beforeRunId? of the last one of the previous page, $4 limit.
-- Never null: requested_at_us.
select run_id, (extract(epoch from requested_at) * 1000000)::bigint as requested_at_us
from sync.runs
where ($1::text is null or status = $1)
  and ($2::bigint is null
    or (requested_at, run_id) < ('epoch'::timestamptz + $2::bigint * interval '1 microsecond', $3::uuid))
order by requested_at desc, run_id desc
limit $4
