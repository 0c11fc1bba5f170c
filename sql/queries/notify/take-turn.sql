-- Takes the turn to look for something to tell: the row stays locked until the transaction ends, and a worker that finds it
-- locked, or looked at just now, leaves it. A schedule that is new starts its time anew.
-- Params: $1 intervalS (that must lie between two looks), $2 schedule? (as one text; null leaves it as it is).
-- Never null: now, watching_since, schedule_since.
with mine as (
  select only_row from sync.notify_watch
  where looked_at is null or looked_at <= now() - make_interval(secs => $1)
  for update skip locked
)
update sync.notify_watch w
set looked_at = now(),
  watching_since = coalesce(w.watching_since, now()),
  schedule_since = case when $2 <> coalesce(w.schedule, '') then now() else coalesce(w.schedule_since, now()) end,
  schedule = coalesce($2, w.schedule)
from mine
where w.only_row = mine.only_row
returning now() as now, w.watching_since, w.schedule_since
