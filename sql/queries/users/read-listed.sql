-- The users that the organization's own listing held when it was last stored.
-- Params: $1 organizationKey.
select user_id from collab_store.users where organization_key = $1 and listed
