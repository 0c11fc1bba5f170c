-- Gives a document, an annotation or a user group another id. The next answers are looked at, even if they come with the same
-- bytes; a listing that is held was the old id's; and what an import lacked that is held was named since.
-- Params: $1 kind, $2 key, $3 newId.
with documents as (
  update collab_store.documents set document_id = $3, body_digest = null, content_digest = null
  where $1 = 'document' and document_key = $2
), annotations as (
  update collab_store.annotations
  set annotation_id = case when $1 = 'annotation' then $3 else annotation_id end, body_digest = null, content_digest = null
  where $1 = 'annotation' and annotation_key = $2
    or $1 = 'document' and document_key = $2 and num_nonnulls(body_digest, content_digest) > 0
), user_groups as (
  update collab_store.user_groups set organization_user_group_id = $3, body_digest = null, content_digest = null
  where $1 = 'user_group' and user_group_key = $2
), named as (
  update sync.catalog_lacking l
  set keys = array(
    select k from unnest(l.keys) k
    where (l.kind, k) <> ($1, $2)
      and not exists (
        select from collab_store.annotations a
        where $1 = 'document' and l.kind = 'annotation' and a.annotation_key = k and a.document_key = $2))
  where l.kind in ($1, 'annotation')
)
delete from sync.held
where kind = case $1 when 'user_group' then 'group' else $1 end and scope_key = $2 and resolved_at is null
