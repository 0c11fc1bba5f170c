-- Creates the deliveries of the notifications that this transaction created, to the receivers of their types. A run that
-- finished is sent only to receivers that were seen with the type before.
-- Params: $1 receivers.
-- Prepared.
insert into sync.notification_deliveries (notification_id, receiver)
select n.notification_id, s.receiver
from sync.notifications n
join sync.notification_receivers s on s.event = n.kind
left join sync.runs r on r.run_id = n.run_id and n.kind in ('run.finished', 'night.ended')
where n.noted_at = now() and s.receiver = any($1::text[]) and (r.finished_at is null or s.first_seen_at <= r.finished_at)
