-- Keys of comments by the person, deleted ones too, or in whose further members the person's id stands.
-- Params: $1 organization keys, $2 user id, $3 e-mail addresses in lower case, $4 texts that the id may have inside of JSON.
select c.annotation_key, c.comment_id
from collab_store.comments c
join collab_store.annotations a using (annotation_key)
join collab_store.documents d using (document_key)
where d.organization_key = any($1)
  and (c.author_user_id = $2
    or (c.author_user_id is null and lower(c.author_email) = any($3))
    or (c.rest is not null
      and exists (select from unnest($4::text[]) t (part) where position(t.part in c.rest::text) > 0)))
