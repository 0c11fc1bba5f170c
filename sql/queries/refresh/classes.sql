-- Counts of continuous refresh by class, and its learned statistics.
-- Params: none.
-- Never null: class, scopes, polls, calls, found, failed, learned_found, learned_gap_s.
select c.class, extract(epoch from c.quiet_from)::float8 as quiet_from_s, extract(epoch from c.quiet_to)::float8 as quiet_to_s,
  c.scopes, c.polls, c.calls, c.found, c.failed, c.share::float8 as share,
  extract(epoch from c.polled_every)::float8 as polled_every_s, c.last_full_pass,
  s.found as learned_found, s.gap_s as learned_gap_s
from reporting.refresh_classes c
join sync.refresh_passes s using (class)
order by c.class
