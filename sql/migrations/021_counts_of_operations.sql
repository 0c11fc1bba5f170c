-- What another operation changes: how much is stored of it, what its listings contain, and what its changes are about.
-- No view counts what is not a comment as a user.
-- Works with: 0.1.0
create view collab_store.stored_records as
select 'comment' as object, coalesce(sum(comments), 0)::bigint as records from collab_store.batches
union all
select 'user', count(*) from collab_store.users;
comment on view collab_store.stored_records is 'Number of stored records that a run may write again.';
comment on column collab_store.stored_records.object is 'comment or user.';
comment on column collab_store.stored_records.records is 'Live comments, or users with those who left.';

create view collab_store.listed_records as
select 'users' as operation, 'organization' as kind, organization_key as scope_key, user_id as record_id
from collab_store.users where listed
union all
select 'users', 'document', document_key, user_id from collab_store.document_users where removed_at is null
union all
select 'users', 'group', user_group_key, user_id from collab_store.user_group_members where removed_at is null;
comment on view collab_store.listed_records is 'The records that each listing contains according to the tables.';
comment on column collab_store.listed_records.operation is 'The operation that returned the listing.';
comment on column collab_store.listed_records.kind is 'Whether the listing is that of an organization, document or group.';
comment on column collab_store.listed_records.scope_key is 'The internal key of that organization, document or user group.';
comment on column collab_store.listed_records.record_id is 'The service''s ID of the record, for a user the userId.';

create function collab_store.subject_of_change(object text, key integer, comment_id bigint, person uuid)
returns table (organization_id text, document_id text, annotation_id text, organization_user_group_id text, user_id text, name text)
language sql stable
as $$
  select o.organization_id, d.document_id, a.annotation_id, g.organization_user_group_id, u.user_id,
    coalesce(u.name, left(t.comment_text, 120))
  from (values ($1, $2, $3, $4)) p (object, key, comment_id, person)
  left join collab_store.annotations a on p.object = 'comment' and a.annotation_key = p.key
  left join collab_store.documents d on d.document_key = case when p.object = 'document_user' then p.key else a.document_key end
  left join collab_store.user_groups g on p.object = 'user_group_member' and g.user_group_key = p.key
  join collab_store.organizations o
    on o.organization_key = case when p.object = 'user' then p.key else coalesce(d.organization_key, g.organization_key) end
  left join collab_store.users u on u.organization_key = o.organization_key and u.person = p.person
  left join collab_store.comments t on p.object = 'comment' and t.annotation_key = p.key and t.comment_id = p.comment_id
$$;
comment on function collab_store.subject_of_change(text, integer, bigint, uuid) is 'The service''s IDs of the record of a row in collab_store.changes, and its name: of a comment its first words as they are now. A user who was erased since has no ID.';

create or replace view collab_store.organization_checks as
select organization_key,
  case when bool_and(checked_at is not null) filter (where operation = 'comments')
    then min(checked_at) filter (where operation = 'comments') end as annotations_checked_at,
  coalesce(sum(scopes) filter (where is_stale and operation = 'comments'), 0)::bigint as stale_annotations,
  coalesce(sum(scopes) filter (where is_stale and operation = 'users'), 0)::bigint as stale_listings
from collab_store.checks
group by 1;
