-- Forgets what was noted long ago, with its deliveries.
-- Params: none.
delete from sync.notifications where noted_at < now() - interval '90 days'
