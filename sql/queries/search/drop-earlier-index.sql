-- Removes the search index of before migration 0014, which serves no search any more. Not inside a transaction.
-- Params: none.
drop index concurrently if exists collab_store.comments_words
