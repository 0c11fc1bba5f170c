-- Counts of continuous refresh by class, and its learned statistics.
-- Params: none.
-- Never null: class, threads, looks, calls, found, failed, learned_found, learned_gap_s.
select c.class, extract(epoch from c.quiet_from)::float8 as quiet_from_s, extract(epoch from c.quiet_to)::float8 as quiet_to_s,
  c.threads, c.looks, c.calls, c.found, c.failed, c.share::float8 as share,
  extract(epoch from c.looked_at_every)::float8 as looked_at_every_s, c.whole_since,
  s.found as learned_found, s.gap_s as learned_gap_s
from reporting.refresh_classes c
join sync.refresh_passes s using (class)
order by c.class
