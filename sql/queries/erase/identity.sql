-- The names and e-mail addresses that are stored of a person.
-- Params: $1 organization keys, $2 user id.
select coalesce(array_agg(distinct name) filter (where name <> ''), '{}') as names,
  coalesce(array_agg(distinct email) filter (where email <> ''), '{}') as emails
from (
  select name, email from collab_store.users where organization_key = any($1) and user_id = $2
  union all
  select c.author_name, c.author_email
  from collab_store.comments c
  join collab_store.annotations a using (annotation_key)
  join collab_store.documents d using (document_key)
  where c.author_user_id = $2 and d.organization_key = any($1)
) known
