-- A delivery failed: when to try again, or that it is given up.
-- Params: $1 notificationId, $2 receiver, $3 problem, $4 retryInS, $5 isGivenUp.
update sync.notification_deliveries
set problem = $3, next_at = now() + make_interval(secs => $4), given_up_at = case when $5 then now() end
where notification_id = $1 and receiver = $2 and sent_at is null
