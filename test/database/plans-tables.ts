/**
 * About 100,000 annotations with what a year of nights leaves beside them, without triggers and foreign keys. A plan depends on
 * how many rows there are and which keys they have in common, so texts and digests are empty. A batch has 256 scopes of one
 * organization, whose keys are not adjacent. Random pages cost what they do in memory and on an SSD.
 */
export const MANY_SCOPES = `
set session_replication_role = replica;
insert into collab_store.organizations (organization_id) select 'o' || n from generate_series(1, 100) n;
insert into collab_store.documents (organization_key, document_id) select 1 + n % 100, 'd' || n from generate_series(1, 33334) n;
insert into collab_store.user_groups (organization_key, organization_user_group_id) select 1 + n % 100, 'g' || n from generate_series(1, 20000) n;
insert into collab_store.batches (organization_key, batch_no, operation, scopes, assigned, checked_at)
select 1 + n % 100, n / 100 % 4, case when n < 400 then 'users' else 'comments' end, 250, 250, now() - interval '2 hours'
from generate_series(0, 799) n;
insert into collab_store.listings (batch_key, scope_key, scope_no, operation, kind, own_checked_at)
select organization_key + place / 256 * 100, scope_key, place % 256, 'users', kind, case when scope_key % 100 = 7 then now() end
from (
  select organization_key, kind, scope_key, row_number() over (partition by organization_key) - 1 as place
  from (
    select organization_key, 'organization' as kind, organization_key as scope_key from collab_store.organizations
    union all
    select organization_key, 'group', user_group_key from collab_store.user_groups
    union all
    select organization_key, 'document', document_key from collab_store.documents
  ) s
) l;
insert into collab_store.annotations (document_key, batch_key, scope_no, annotation_id, comment_count, changed_at,
  own_checked_at, failing_since, active)
select document_key, 400 + organization_key + place / 256 * 100, place % 256, 'a' || n, 1, now() - interval '9 days',
  case when document_key % 100 = 7 then now() - interval '9 days' end, case when document_key % 200 = 7 then now() - interval '8 days' end,
  document_key % 100 <> 1
from (
  select document_key, organization_key, n, row_number() over (partition by organization_key) - 1 as place
  from collab_store.documents
  cross join generate_series(1, 3) n
) a;
insert into collab_store.users (organization_key, source, listed, first_seen_at, changed_at, digest, user_id, name, person)
select 1 + n % 100, 3, true, now(), now(), '', 'u' || n, 'User ' || n, md5(n::text)::uuid from generate_series(1, 25000) n;
insert into collab_store.user_versions (organization_key, version, valid_from, valid_to, listed, user_id)
select 1 + n % 100, 1, now(), now(), true, 'u' || n from generate_series(1, 5000) n;
insert into collab_store.document_users (document_key, first_seen_at, joined_at, user_id)
select document_key, now(), now(), 'u' || document_key from collab_store.documents;
insert into collab_store.user_group_members (user_group_key, first_seen_at, joined_at, user_id)
select user_group_key, now(), now(), 'u' || user_group_key + 100 * n from collab_store.user_groups, generate_series(0, 1) n;
insert into collab_store.past_memberships (document_key, joined_at, removed_at, user_id)
select document_key, now(), now(), 'u' || document_key from collab_store.documents where document_key % 3 = 0;
insert into collab_store.comments (comment_id, last_updated, first_seen_at, changed_at, version_at, organization_key, annotation_key,
  version, day, digest, change, author_user_id)
select annotation_key, t.at, t.at, t.at, t.at, organization_key, annotation_key, case when annotation_key % 10 = 0 then 2 else 1 end,
  t.at::date, '', 'added', 'u' || annotation_key % 25000
from collab_store.annotations
join collab_store.documents using (document_key)
cross join lateral (select now() - annotation_key % 365 * interval '1 day' as at) t;
insert into collab_store.comment_versions (comment_id, valid_from, valid_to, annotation_key, version, change)
select comment_id, version_at, now(), annotation_key, n, 'added' from collab_store.comments, generate_series(2, 5) n where version = 2;
insert into collab_store.changes (xid, at, lines, object, change, keys, comment_ids)
select '1', now() - n % 365 * interval '1 day', 1, case n % 3 when 0 then 'annotation' else 'comment' end, 'edited', array[n], array[n]
from generate_series(1, 20000) n;
insert into sync.runs (trigger, status, requested_at, started_at, finished_at)
select case when n % 3 = 0 then 'schedule' else 'hint' end, 'succeeded', t.at, t.at, t.at + interval '1 hour'
from generate_series(1, 1000) n
cross join lateral (select now() - n * interval '8 hours' as at) t;
insert into sync.run_items (run_id, batch_key, organization_key, kind, state, claimed_at, finished_at)
select run_id, batch_key, organization_key, 'sync-batch', 'done', finished_at, finished_at
from (select * from sync.runs where trigger = 'schedule' order by requested_at desc limit 20) r
cross join collab_store.batches;
insert into sync.failures (run_id, batch_key, scope_no, attempts, operation, organization_id, document_id, annotation_id, resolved_at)
select r.run_id, batch_key, scope_no, 1, 'comments', 'o' || organization_key, document_id, annotation_id,
  case when failing_since is null then now() end
from collab_store.annotations
join collab_store.documents using (document_key)
join (select run_id, row_number() over () as n from sync.runs) r on r.n = annotation_key % 1000 + 1
where annotation_key % 5 = 0 or failing_since is not null;
insert into sync.rejected_records (run_id, operation, organization_id, document_id, annotation_id, reason, record, is_whole, digest, gone_at)
select run_id, operation, organization_id, document_id, annotation_id, 'a reason', '{}', true, md5(failure_id::text)::bytea, resolved_at
from sync.failures
where failure_id % 2 = 0;
insert into collab_store.recent_threads (annotation_key, batch_key, active_at)
select annotation_key, batch_key, now() - annotation_key % 100000 * interval '9 seconds' from collab_store.annotations where annotation_key % 4 = 0;
insert into sync.hints (annotation_key) select annotation_key from collab_store.annotations where annotation_key % 10 = 0;
update sync.refresh_passes set last_full_pass = now() - interval '1 hour', whole_snapshot = '9', started_at = now();
set session_replication_role = origin;
set default_statistics_target = 20;
analyze;
set plan_cache_mode = force_generic_plan;
set random_page_cost = 1.1`
