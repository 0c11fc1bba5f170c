-- Makes the search index, the one that reporting.search names in its COMMENT, beside running syncs. Not inside a
-- transaction.
-- Params: none.
create index concurrently comments_search on collab_store.comments using gin (collab_store.search_words(comment_text))
