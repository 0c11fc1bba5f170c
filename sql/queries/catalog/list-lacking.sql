-- A page of the scopes that the held import lacks, in the order in which they are stored.
-- Params: $1 afterId?, $2 afterPosition? (lacking_id and position of the last one of the previous page), $3 limit.
-- Never null: lacking_id, position, organization_id.
select l.lacking_id, k.position, o.organization_id, d.document_id, a.annotation_id, g.organization_user_group_id
from sync.catalog_imports i
join sync.catalog_lacking l using (import_id)
cross join lateral unnest(l.keys) with ordinality k (key, position)
left join collab_store.annotations a on l.kind = 'annotation' and a.annotation_key = k.key
left join collab_store.documents d on d.document_key = case l.kind when 'document' then k.key else a.document_key end
left join collab_store.user_groups g on l.kind = 'group' and g.user_group_key = k.key
join collab_store.organizations o
  on o.organization_key = case l.kind when 'organization' then k.key else coalesce(d.organization_key, g.organization_key) end
where i.state = 'held' and (l.lacking_id, k.position) > (coalesce($1, 0), coalesce($2, 0))
order by l.lacking_id, k.position
limit $3
