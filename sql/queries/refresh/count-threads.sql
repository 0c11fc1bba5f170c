-- How many threads last changed within a range of time.
-- Params: $1 after, $2 upTo.
-- Never null: threads.
-- Prepared.
select count(*)::int as threads from collab_store.recent_threads where active_at > $1 and active_at <= $2
