-- The answers that spoke of a person are looked at again, even if they come with the same bytes: their digests were made
-- of what is erased. What is kept of a thread's authors gets the pseudonym (collab_store.thread_facts has their order).
-- Params: $1 annotationKeys, $2 userId?, $3 pseudonym.
update collab_store.annotations a
set body_digest = null, content_digest = null, authors = case when $2 = any(a.authors)
  then (select array_agg(distinct t.author collate "C") from unnest(array_replace(a.authors, $2, $3)) t (author))
  else a.authors end
where a.annotation_key = any($1)
