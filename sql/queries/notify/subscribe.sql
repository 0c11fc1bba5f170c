-- Records when each receiver was first in NOTIFY_URL with each of its types, and again if no process has had it for more
-- than a day. Rows are written at most once an hour.
-- Params: $1 receivers, $2 events (a type for each receiver).
-- Prepared.
insert into sync.notification_receivers as known (receiver, event)
select * from unnest($1::text[], $2::text[]) as r (receiver, event)
where not exists (
  select from sync.notification_receivers s
  where s.receiver = r.receiver and s.event = r.event and s.last_seen_at > now() - interval '1 hour'
)
order by 1, 2
on conflict (receiver, event) do update set last_seen_at = now(),
  first_seen_at = case when known.last_seen_at > now() - interval '1 day' then known.first_seen_at else now() end
