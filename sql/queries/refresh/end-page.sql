-- Finishes a page after all its scopes were polled, and adds the results; earlier statistics have a half-life of one
-- day. The pass is complete with its last page. The classes are locked before, so that one of two concurrent last pages
-- detects this.
-- Params: $1 pageId, $2 workerId, $3 at, $4 found, $5 gapS.
with gone as (
  delete from sync.refresh_pages where page_id = $1 and worker_id = $2
  returning class, pass, pass_started_at, pass_snapshot
)
update sync.refresh_passes s
set found = s.found * w.faded + $4, gap_s = s.gap_s * w.faded + $5, learned_at = $3,
  last_full_pass = case when w.is_whole then g.pass_started_at else s.last_full_pass end,
  whole_snapshot = case when w.is_whole then g.pass_snapshot else s.whole_snapshot end
from gone g
cross join lateral (
  select 0.5 ^ greatest(0, extract(epoch from $3::timestamptz - coalesce(x.learned_at, $3)) / 86400)::float8 as faded,
    (g.pass < x.pass or x.is_planned) and coalesce(x.last_full_pass < g.pass_started_at, g.pass_started_at is not null)
    and not exists (select from sync.refresh_pages p where p.class = g.class and p.pass = g.pass and p.page_id <> $1) as is_whole
  from sync.refresh_passes x where x.class = g.class
) w
where s.class = g.class
