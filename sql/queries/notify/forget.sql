-- Deletes old notifications with their deliveries.
-- Params: none.
delete from sync.notifications where noted_at < now() - interval '90 days'
