-- Claims the delivery to a receiver that has been due for longest. No other worker claims it during the lease. The last
-- attempt is the one after a day; if it fails, the delivery ends.
-- Params: $1 receiver, $2 leaseS.
-- Never null: is_last.
-- Prepared.
with due as (
  select notification_id, receiver from sync.notification_deliveries
  where receiver = $1 and sent_at is null and given_up_at is null and next_at <= now()
  order by next_at
  limit 1
  for update skip locked
)
update sync.notification_deliveries d
set attempts = d.attempts + 1, next_at = now() + make_interval(secs => $2)
from due join sync.notifications n using (notification_id)
where d.notification_id = due.notification_id and d.receiver = due.receiver
returning d.notification_id, d.attempts, n.kind, n.noted_at, n.facts, n.noted_at < now() - interval '1 day' as is_last
