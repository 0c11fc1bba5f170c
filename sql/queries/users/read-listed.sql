-- The users in the last stored version of the organization's own listing.
-- Params: $1 organizationKey.
select user_id from collab_store.users where organization_key = $1 and listed
