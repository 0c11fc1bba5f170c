-- Gives up the delivery of a message of which nothing is left to tell; the receiver is not to blame.
-- Params: $1 notificationId, $2 receiver.
update sync.notification_deliveries
set given_up_at = now(), problem = null
where notification_id = $1 and receiver = $2 and sent_at is null
