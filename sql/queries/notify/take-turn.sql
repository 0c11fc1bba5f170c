-- Locks the check for notifications until the transaction ends. Returns no row if another process holds the lock or
-- checked recently.
-- Params: $1 intervalS (minimum time between two checks).
-- Never null: now, watching_since.
-- Prepared.
with mine as (
  select only_row from sync.notify_watch
  where checked_at is null or checked_at <= now() - make_interval(secs => $1)
  for update skip locked
)
update sync.notify_watch w
set checked_at = now(), watching_since = coalesce(w.watching_since, now())
from mine
where w.only_row = mine.only_row
returning now() as now, w.watching_since
