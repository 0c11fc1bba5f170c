-- Reports on all annotations take no longer where nothing changed recently or continuous refresh is off: the recent threads
-- are looked up only where the batch's check does not decide, instead of joined to every annotation.
-- Works with: 0.1.0

-- Joined instead of annotations. PostgreSQL drops it, or the batches in it, from plans that do not need them. `exists`
-- becomes a lookup in a hash table of the recent threads, or one in their index, whichever PostgreSQL finds cheaper.
create or replace view collab_store.checked_annotations as
select x.annotation_key, x.document_key, x.annotation_id, x.active, x.comment_count, x.authors, x.changed_at,
  x.failing_since, x.first_comment_at, x.last_comment_at, x.first_answer_at,
  greatest(collab_store.last_good_check(x.own_checked_at, b.checked_at), case
    when exists (select from collab_store.recent_threads h where h.annotation_key = x.annotation_key)
    then (select w.pass_started_at from collab_store.pass_checks w where w.annotation_key = x.annotation_key) end) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(x.own_checked_at, b.checked_at), x.failing_since,
    (select stale_before from collab_store.promise))
    and not (exists (select from collab_store.recent_threads h where h.annotation_key = x.annotation_key)
      and exists (select from collab_store.pass_checks w
        where w.annotation_key = x.annotation_key and w.pass_started_at >= (select stale_before from collab_store.promise))) as is_stale
from collab_store.annotations x
left join collab_store.batches b using (batch_key);

-- The annotations are read with their document and organization by key, instead of looked up again by ID.
create or replace view reporting.freshness as
select l.kind as level, o.organization_id, d.document_id, null::text as annotation_id, null::text as organization_user_group_id,
  l.checked_at, now() - l.checked_at as age, l.failing_since, l.is_stale,
  o.name as organization_name, d.name as document_name, null::text as user_group_name, l.operation
from collab_store.checked_listings l
join collab_store.organizations o using (organization_key)
left join collab_store.documents d on l.kind = 'document' and d.document_key = l.scope_key
where l.kind <> 'group' and l.active and o.active
union all
select 'user group', o.organization_id, null, null, g.organization_user_group_id, l.checked_at, now() - l.checked_at,
  l.failing_since, l.is_stale, o.name, null, g.name, l.operation
from collab_store.checked_listings l
join collab_store.organizations o using (organization_key)
join collab_store.user_groups g on g.user_group_key = l.scope_key
where l.kind = 'group' and l.active and o.active
union all
select 'annotation', o.organization_id, d.document_id, x.annotation_id, null, x.checked_at, now() - x.checked_at,
  x.failing_since, x.is_stale, o.name, d.name, null, 'comments'
from collab_store.checked_annotations x
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key)
where x.active and d.active and o.active;
