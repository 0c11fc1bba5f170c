-- Messages of the last seven days that receivers did not accept.
-- Params: $1 receivers.
-- Never null: given_up, waiting, problem.
select receiver, count(*) filter (where given_up_at is not null)::int as given_up,
  count(*) filter (where given_up_at is null)::int as waiting,
  (array_agg(problem order by next_at desc))[1] as problem
from sync.notification_deliveries
where receiver = any($1::text[]) and sent_at is null and problem is not null and next_at > now() - interval '7 days'
group by receiver
