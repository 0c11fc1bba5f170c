-- The organization's own listing must be looked at again, even if it is the one that was stored last.
-- Params: $1 organizationKey.
update collab_store.organizations set body_digest = null, content_digest = null where organization_key = $1
