-- Makes the search index, the one that reporting.search_comments names in its COMMENT, beside running syncs. Not inside a
-- transaction.
-- Params: none.
create index concurrently comments_words on collab_store.comments using gin (reporting.comment_words(comment_text))
