-- Whether the search index is there: true, or false where its making was broken off; no row where there is none.
-- Params: none.
select i.indisvalid as is_whole
from pg_index i
where i.indexrelid = to_regclass('collab_store.comments_words')
