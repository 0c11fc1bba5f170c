-- A receiver took a message.
-- Params: $1 notificationId, $2 receiver.
update sync.notification_deliveries
set sent_at = now(), problem = null
where notification_id = $1 and receiver = $2 and sent_at is null
