-- Number of live comments.
-- Params: none.
-- Never null: comments.
select coalesce(sum(comments), 0)::bigint as comments from collab_store.batches
