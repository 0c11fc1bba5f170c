-- Comments of others whose words name a person.
-- Params: $1 organization keys, $2 texts that tell the person.
select count(*) as comments
from collab_store.comments c
join collab_store.annotations a using (annotation_key)
join collab_store.documents d using (document_key)
where d.organization_key = any($1)
  and exists (
    select from unnest($2::text[]) t (part)
    where position(t.part in c.comment_text) > 0 or position(t.part in c.comment_html) > 0
  )
