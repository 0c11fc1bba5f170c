-- Time of the last successful check of a scope; null if there was none.
-- Params: $1 batchKey, $2 kind, $3 key.
select coalesce(nullif(x.own_checked_at, '-infinity'), case when x.own_checked_at is null then b.checked_at end) as checked_at
from collab_store.batches b
cross join (
  select own_checked_at from collab_store.organizations where $2 = 'organization' and organization_key = $3
  union all
  select own_checked_at from collab_store.user_groups where $2 = 'group' and user_group_key = $3
  union all
  select own_checked_at from collab_store.documents where $2 = 'document' and document_key = $3
  union all
  select own_checked_at from collab_store.annotations where $2 = 'annotation' and annotation_key = $3
) x
where b.batch_key = $1
