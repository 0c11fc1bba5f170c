-- Puts the pseudonym in the place of a user's id in lists of held removals.
-- Params: $1 organization id or null for all, $2 user id, $3 pseudonym.
update sync.held
set missing_user_ids = array_replace(missing_user_ids, $2, $3)
where ($1::text is null or organization_id = $1) and $2 = any(missing_user_ids)
