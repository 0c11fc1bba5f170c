-- Takes the turn to look for something to tell: the row stays locked until the transaction ends, and a process that finds it
-- locked, or looked at just now, leaves it.
-- Params: $1 intervalS (that must lie between two looks).
-- Never null: now, watching_since.
with mine as (
  select only_row from sync.notify_watch
  where looked_at is null or looked_at <= now() - make_interval(secs => $1)
  for update skip locked
)
update sync.notify_watch w
set looked_at = now(), watching_since = coalesce(w.watching_since, now())
from mine
where w.only_row = mine.only_row
returning now() as now, w.watching_since
