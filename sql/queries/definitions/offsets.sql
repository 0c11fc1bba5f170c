-- UTC offsets of a time zone in the years 1880 to 2200 and when each began, from PostgreSQL's own list of time zones,
-- which reports use for days.
-- Params: $1 timeZone.
-- Never null: from_ms, ahead_ms.
with changed as (
  select h, lag(h) over (order by h) as before, ahead, ahead is distinct from lag(ahead) over (order by h) as is_new
  from generate_series(timestamptz '1880-01-01Z', '2200-01-01Z', interval '24 hours') h
  cross join lateral (select (h at time zone $1) - (h at time zone 'UTC') as ahead) a
)
select (extract(epoch from coalesce(s.at, c.h)) * 1000)::float8 as from_ms, (extract(epoch from c.ahead) * 1000)::float8 as ahead_ms
from changed c
-- First by minute, then by second.
left join lateral (
  select min(m) as at from generate_series(c.before, c.h, interval '1 minute') m where (m at time zone $1) - (m at time zone 'UTC') = c.ahead
) m on true
left join lateral (
  select min(t) as at from generate_series(m.at - interval '59 seconds', m.at, interval '1 second') t
  where (t at time zone $1) - (t at time zone 'UTC') = c.ahead
) s on true
where c.is_new
order by 1
