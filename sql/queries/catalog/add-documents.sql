-- Adds new documents; own_checked_at as in add-user-groups.
-- Params: none.
-- Never null: scopes.
with added as (
  insert into collab_store.documents
    (organization_key, batch_key, scope_no, own_checked_at, document_id, name)
  select s.organization_key, b.batch_key, s.number % 256,
    case when b.batch_no * 256 < o.users_scopes then timestamptz '-infinity' end, s.id, n.name
  from import_new_users_scopes s
  join collab_store.organizations o using (organization_key)
  join collab_store.batches b on b.organization_key = s.organization_key
    and b.operation = 'users' and b.batch_no = s.number / 256
  left join import_names n on n.kind = 'document' and n.organization_id = o.organization_id and n.id = s.id
  where s.kind = 2
  order by s.organization_key, s.number
  returning batch_key
), touched as (
  insert into import_touched_batches select distinct batch_key from added
)
select count(*) as scopes from added;
