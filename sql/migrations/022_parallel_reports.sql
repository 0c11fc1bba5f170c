-- PostgreSQL executes no query in parallel that has a subquery for each row. The last pass of a thread is therefore computed
-- from the passes, which are read once, and no longer looked up for each annotation.
-- Works with: 0.1.0

create view collab_store.whole_passes as
select s.class, s.last_full_pass as started_at, s.whole_snapshot as snapshot,
  s.last_full_pass - make_interval(secs => 240 * 4 ^ s.class) as active_after,
  s.last_full_pass - case when s.class = 0 then interval '0' else make_interval(secs => 240 * 4 ^ (s.class - 1)) end as active_until
from sync.refresh_passes s
where s.class < 7;
comment on view collab_store.whole_passes is 'The last complete pass of each class of recent threads.';
comment on column collab_store.whole_passes.class is 'Class of the threads: 0 for those that changed last, 6 for the longest ago.';
comment on column collab_store.whole_passes.started_at is 'Start of the pass; null if none was complete.';
comment on column collab_store.whole_passes.snapshot is 'The pass has not checked the current state of threads that this transaction or a later one wrote.';
comment on column collab_store.whole_passes.active_after is 'The pass polled threads that changed after this time.';
comment on column collab_store.whole_passes.active_until is 'The pass polled threads that changed at this time at the latest.';

create or replace view collab_store.thread_passes as
select h.annotation_key, h.batch_key, s.class, s.started_at as pass_started_at
from collab_store.recent_threads h
join collab_store.whole_passes s
  on h.active_at > s.active_after and h.active_at <= s.active_until and h.written_in < s.snapshot;

create function collab_store.last_pass(thread collab_store.recent_threads, passes collab_store.whole_passes[]) returns timestamptz
language sql immutable parallel safe
return (
  select max(s.started_at) from unnest(passes) s
  where (thread).active_at > s.active_after and (thread).active_at <= s.active_until and (thread).written_in < s.snapshot
);
comment on function collab_store.last_pass(collab_store.recent_threads, collab_store.whole_passes[]) is 'Returns the start of the latest of these passes that polled the current state of a thread; null if none.';

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
    then collab_store.last_pass(h, (select array_agg(s) from collab_store.whole_passes s)) end as pass_started_at) w;

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
