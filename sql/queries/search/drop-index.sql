-- Removes the search index without keeping writers waiting; what was broken off too. Not inside a transaction.
-- Params: none.
drop index concurrently if exists collab_store.comments_search
