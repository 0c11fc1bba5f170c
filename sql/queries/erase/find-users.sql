-- Users who are the person, or in whose further members the person's id stands.
-- Params: $1 organization keys, $2 user id, $3 texts that the id may have inside of JSON.
select organization_key, user_id, name, email, rest::text as rest
from collab_store.users u
where organization_key = any($1)
  and (user_id = $2 or exists (select from unnest($3::text[]) t (part) where position(t.part in u.rest::text) > 0))
order by organization_key, user_id
for update
