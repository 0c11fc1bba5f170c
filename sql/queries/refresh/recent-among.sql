-- Which annotations changed lately, and are looked at by themselves too.
-- Params: $1 keys.
-- Prepared.
select annotation_key as key from collab_store.recent_threads where annotation_key = any($1)
