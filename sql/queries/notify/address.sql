-- Creates the deliveries of the notifications that this transaction created.
-- Params: $1 receivers.
-- Prepared.
insert into sync.notification_deliveries (notification_id, receiver)
select n.notification_id, r.receiver
from sync.notifications n
cross join unnest($1::text[]) as r (receiver)
where n.noted_at = now()
