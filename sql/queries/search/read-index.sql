-- Whether the search index is there: true, false where its making was broken off, null where there is none; and whether the
-- one of before migration 0014 is.
-- Params: none.
-- Never null: has_earlier.
select (select i.indisvalid from pg_index i where i.indexrelid = to_regclass('collab_store.comments_search')) as is_whole,
  to_regclass('collab_store.comments_words') is not null as has_earlier
