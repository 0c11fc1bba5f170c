-- Clears the digests of a batch's responses that mentioned a person, because they were computed from erased data. The
-- next responses are compared even if their bytes are the same.
-- Params: $1 batchKey, $2 pseudonym.
with of_documents as (
  update collab_store.documents d set body_digest = null, content_digest = null
  where d.batch_key = $1
    and exists (select from collab_store.document_users m where m.document_key = d.document_key and m.user_id = $2)
), of_groups as (
  update collab_store.user_groups g set body_digest = null, content_digest = null
  where g.batch_key = $1
    and exists (select from collab_store.user_group_members m where m.user_group_key = g.user_group_key and m.user_id = $2)
)
update collab_store.organizations o set body_digest = null, content_digest = null
from collab_store.batches b
where b.batch_key = $1 and b.batch_no = 0 and o.organization_key = b.organization_key
