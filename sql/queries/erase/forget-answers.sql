-- The answers that spoke of a person are looked at again, even if they come with the same bytes: their digests were made
-- of what is erased. What is kept of a thread's authors gets the pseudonym (collab_store.thread_facts has their order).
-- Params: $1 organization keys, $2 annotation keys, $3 pseudonym, $4 user id.
with of_annotations as (
  update collab_store.annotations a
  set body_digest = null, content_digest = null, authors = case when $4 = any(a.authors)
    then (select array_agg(distinct t.author collate "C") from unnest(array_replace(a.authors, $4, $3)) t (author))
    else a.authors end
  where a.annotation_key = any($2)
), of_documents as (
  update collab_store.documents d set body_digest = null, content_digest = null
  where d.organization_key = any($1)
    and exists (select from collab_store.document_users m where m.document_key = d.document_key and m.user_id = $3)
), of_groups as (
  update collab_store.user_groups g set body_digest = null, content_digest = null
  where g.organization_key = any($1)
    and exists (select from collab_store.user_group_members m where m.user_group_key = g.user_group_key and m.user_id = $3)
)
update collab_store.organizations o set body_digest = null, content_digest = null
where o.organization_key = any($1)
  and exists (select from collab_store.users u where u.organization_key = o.organization_key and u.user_id = $3)
