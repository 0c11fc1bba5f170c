-- PostgreSQL executes no query in parallel that has a subquery for each row. The last pass of a thread is therefore computed
-- from the passes, which are read once, and no longer looked up for each annotation.
-- Works with: 0.1.0

create function collab_store.is_polled(active_at timestamptz, written_in xid8, pass sync.refresh_passes) returns boolean
language sql stable parallel safe
return (pass).class < 7
  and active_at > (pass).last_full_pass - make_interval(secs => 240 * 4 ^ (pass).class)
  and active_at <= (pass).last_full_pass - case when (pass).class = 0 then interval '0' else make_interval(secs => 240 * 4 ^ ((pass).class - 1)) end
  and written_in < (pass).whole_snapshot;
comment on function collab_store.is_polled(timestamptz, xid8, sync.refresh_passes) is 'Returns whether the last complete pass of a class polled the current state of a thread in collab_store.recent_threads.';

create or replace view collab_store.thread_passes as
select h.annotation_key, h.batch_key, s.class, s.last_full_pass as pass_started_at
from collab_store.recent_threads h
join sync.refresh_passes s on collab_store.is_polled(h.active_at, h.written_in, s);

create function collab_store.last_pass(active_at timestamptz, written_in xid8, passes sync.refresh_passes[]) returns timestamptz
language sql stable parallel safe
return (select max(s.last_full_pass) from unnest(passes) s where collab_store.is_polled(active_at, written_in, s));
comment on function collab_store.last_pass(timestamptz, xid8, sync.refresh_passes[]) is 'Returns the start of the latest of these passes that polled the current state of a thread in collab_store.recent_threads; null if none.';

-- Joined instead of annotations. PostgreSQL drops it, or the batches and recent threads in it, from plans that do not
-- need them. A pass checks no thread whose last check failed. is_stale looks at passes only where the batch is late.
create or replace view collab_store.checked_annotations as
select x.annotation_key, x.document_key, x.annotation_id, x.active, x.comment_count, x.authors, x.changed_at,
  x.failing_since, x.first_comment_at, x.last_comment_at, x.first_answer_at,
  greatest(collab_store.last_good_check(x.own_checked_at, b.checked_at), w.pass_started_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(x.own_checked_at, b.checked_at), x.failing_since,
    (select stale_before from collab_store.promise))
    and coalesce(w.pass_started_at < (select stale_before from collab_store.promise), true) as is_stale
from collab_store.annotations x
left join collab_store.batches b using (batch_key)
left join collab_store.recent_threads h using (annotation_key)
cross join lateral (select case
    when h.annotation_key is not null and x.failing_since is null and x.own_checked_at is distinct from '-infinity'
    then collab_store.last_pass(h.active_at, h.written_in, (select array_agg(s) from sync.refresh_passes s)) end as pass_started_at) w;

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
