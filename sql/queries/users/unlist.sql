-- Ends the listing of users whom the organization's own listing no longer holds. They keep their names; a document's
-- listing may correct those from now on, so they count as coming from one (source 2).
-- Params: $1 organizationKey, $2 userIds, $3 at.
update collab_store.users
set listed = false, removed_at = $3, changed_at = $3, source = 2
where organization_key = $1 and user_id = any($2) and listed
