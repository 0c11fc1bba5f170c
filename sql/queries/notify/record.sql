-- Records the outcome of a delivery: sent, given up, or to retry later.
-- Params: $1 notificationId, $2 receiver, $3 outcome ('sent', 'given_up' or 'retry'), $4 problem?, $5 retryInS.
update sync.notification_deliveries
set sent_at = case when $3 = 'sent' then now() end, given_up_at = case when $3 = 'given_up' then now() end, problem = $4,
  next_at = now() + make_interval(secs => $5)
where notification_id = $1 and receiver = $2 and sent_at is null
