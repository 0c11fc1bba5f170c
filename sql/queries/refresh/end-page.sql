-- Ends a page of which each thread was looked at, and notes what these looks found. The pass is whole when it was the last of
-- its pages; the classes are locked before, so that of two last pages one sees it.
-- Params: $1 pageId, $2 workerId, $3 at, $4 faded (what was learned before counts so much), $5 found, $6 gapS.
with gone as (
  delete from sync.refresh_pages where page_id = $1 and worker_id = $2
  returning class, pass, pass_started_at, pass_snapshot
)
update sync.refresh_sweeps s
set found = s.found * $4 + $5, gap_s = s.gap_s * $4 + $6, learned_at = $3,
  whole_since = case when w.is_whole then g.pass_started_at else s.whole_since end,
  whole_snapshot = case when w.is_whole then g.pass_snapshot else s.whole_snapshot end
from gone g
cross join lateral (
  select (g.pass < x.pass or x.is_planned) and coalesce(x.whole_since < g.pass_started_at, g.pass_started_at is not null)
    and not exists (select from sync.refresh_pages p where p.class = g.class and p.pass = g.pass and p.page_id <> $1) as is_whole
  from sync.refresh_sweeps x where x.class = g.class
) w
where s.class = g.class
