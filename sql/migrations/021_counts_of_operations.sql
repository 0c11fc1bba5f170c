-- Views that another operation would change: the number of stored records, and the stale listings of users. They no
-- longer count whatever is not a comment as a user.
-- Works with: 0.1.0
create view collab_store.stored_records as
select 'comment' as object, coalesce(sum(comments), 0)::bigint as records from collab_store.batches
union all
select 'user', count(*) from collab_store.users;
comment on view collab_store.stored_records is 'Number of stored records that a run may write again.';
comment on column collab_store.stored_records.object is 'comment or user.';
comment on column collab_store.stored_records.records is 'Live comments, or users with those who left.';

create or replace view collab_store.organization_checks as
select organization_key,
  case when bool_and(checked_at is not null) filter (where operation = 'comments')
    then min(checked_at) filter (where operation = 'comments') end as annotations_checked_at,
  coalesce(sum(scopes) filter (where is_stale and operation = 'comments'), 0)::bigint as stale_annotations,
  coalesce(sum(scopes) filter (where is_stale and operation = 'users'), 0)::bigint as stale_listings
from collab_store.checks
group by 1;
