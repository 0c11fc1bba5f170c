-- Adds looks to those of an hour.
-- Params: $1 at, $2 class, $3 looks, $4 calls, $5 found, $6 failed.
-- Prepared.
insert into sync.refresh_hours as h (hour, class, looks, calls, found, failed)
values (date_trunc('hour', $1::timestamptz), $2, $3, $4, $5, $6)
on conflict (hour, class) do update
set looks = h.looks + excluded.looks, calls = h.calls + excluded.calls, found = h.found + excluded.found,
  failed = h.failed + excluded.failed
