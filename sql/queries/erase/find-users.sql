-- Users who are the person, or whose row may contain the person; with the characters of `rest`.
-- Params: $1 organizationKeys, $2 userId?, $3 patterns.
-- Never null: units.
select organization_key, user_id, coalesce(length(rest::text), 0) as units
from collab_store.users u
where organization_key = any($1)
  and (user_id = $2 or concat_ws(E'\n', user_id, /* user columns: {column}::text */ name::text, email::text,
    rest::text /* end */) ~* any($3))
order by organization_key, user_id
