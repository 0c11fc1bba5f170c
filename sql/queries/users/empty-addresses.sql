-- Removes addresses that PRIVACY_EMAIL excludes from earlier versions of an organization's users.
-- Params: $1 organizationKey, $2 emails (PRIVACY_EMAIL).
update collab_store.user_versions
set email = null
where organization_key = $1 and email is not null and $2 <> 'keep' and ($2 = 'drop' or email not like 'hmac:%')
