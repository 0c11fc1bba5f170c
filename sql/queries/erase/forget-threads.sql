-- Clears the digests of responses that mentioned a person, as erase/forget-listings does. In the stored authors of a thread,
-- the pseudonym replaces the user ID (in the order of collab_store.thread_facts).
-- Params: $1 annotationKeys, $2 userId?, $3 pseudonym.
update collab_store.annotations a
set body_digest = null, content_digest = null, authors = case when $2 = any(a.authors)
  then (select array_agg(distinct t.author collate "C") from unnest(array_replace(a.authors, $2, $3)) t (author))
  else a.authors end
where a.annotation_key = any($1)
