-- When receivers last accepted a message, and the messages of the last seven days that they did not accept.
-- Params: $1 receivers.
-- Never null: given_up, waiting.
select receiver, max(sent_at) as sent_at,
  count(*) filter (where is_refused and given_up_at is not null)::int as given_up,
  count(*) filter (where is_refused and given_up_at is null)::int as waiting,
  (array_agg(problem order by next_at desc) filter (where is_refused))[1] as problem
from sync.notification_deliveries
cross join lateral (select sent_at is null and problem is not null and next_at > now() - interval '7 days' as is_refused) r
where receiver = any($1::text[])
group by receiver
