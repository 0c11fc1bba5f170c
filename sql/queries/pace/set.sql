-- Sets or removes the pace. Changes no row if it is the same already.
-- Params: $1 callsPerSecond?.
insert into sync.pace as p (calls_per_second) values ($1)
on conflict (only_row) do update set calls_per_second = $1, set_at = now()
where p.calls_per_second is distinct from $1
