-- Clears the digests of a batch's responses that mentioned a person, because they were computed from erased data. The
-- next responses are compared even if their bytes are the same.
-- Params: $1 batchKey, $2 pseudonym.
update collab_store.listings l set body_digest = null, content_digest = null
where l.batch_key = $1 and case l.kind
  when 'document' then exists (select from collab_store.document_users m where m.document_key = l.scope_key and m.user_id = $2)
  when 'group' then exists (select from collab_store.user_group_members m where m.user_group_key = l.scope_key and m.user_id = $2)
  else true end
