-- Comments for analysts, and how they changed. Views run with the rights of their owner; functions run with the
-- rights of the caller and use only these views. A role that can read a view can therefore use its function, and no
-- other role can.
-- Change a view only by adding columns at its end.
create schema reporting;
comment on schema reporting is 'Ready-made queries for analysts, without deleted comments unless stated otherwise. Times come from collab-sync''s clock, unless a comment names the service''s clock. A change happened between the check that found it and the previous one. Only scopes in the catalog are checked; checked_at is the start of a check, and reporting.freshness defines is_stale.';

create view reporting.comments as
select o.organization_id, d.document_id, a.annotation_id, c.comment_id,
  c.author_user_id,
  coalesce(u.name, c.author_name) as author_name,
  coalesce(u.email, c.author_email) as author_email,
  c.comment_text, c.status, c.type, c.last_updated, c.first_seen_at, c.changed_at,
  a.checked_at, a.is_stale, a.active and d.active and o.active as in_catalog,
  c.author_name as author_name_then, c.author_email as author_email_then,
  collab_store.written_at(c.written_at, c.first_updated, c.last_updated) as written_at,
  c.written_at is not null as written_at_is_exact,
  case when c.written_at is null then c.not_before end as written_not_before
from collab_store.comments c
left join collab_store.checked_annotations a using (annotation_key)
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
where c.deleted_at is null;
comment on view reporting.comments is 'Live comments with their author''s current name and e-mail address. Key: organization_id, document_id, annotation_id, comment_id.';
comment on column reporting.comments.organization_id is 'The service''s organizationId.';
comment on column reporting.comments.document_id is 'The service''s documentId.';
comment on column reporting.comments.annotation_id is 'The service''s annotationId.';
comment on column reporting.comments.comment_id is 'The service''s commentId, unique within its annotation.';
comment on column reporting.comments.author_user_id is 'The author''s userId.';
comment on column reporting.comments.author_name is 'The author''s current name, or the name received with the comment if no other is known.';
comment on column reporting.comments.author_email is 'The author''s current e-mail address, or the address received with the comment.';
comment on column reporting.comments.comment_text is 'As in collab.comments.';
comment on column reporting.comments.status is 'As in collab.comments.';
comment on column reporting.comments.type is 'As in collab.comments.';
comment on column reporting.comments.last_updated is 'The service''s lastUpdated (the service''s clock): when written or last edited. See written_at.';
comment on column reporting.comments.first_seen_at is 'When collab-sync first received the comment.';
comment on column reporting.comments.changed_at is 'When a check last found the comment changed.';
comment on column reporting.comments.checked_at is 'Last successful check of the annotation''s comments; null if none.';
comment on column reporting.comments.is_stale is 'True if the annotation''s comments may be out of date.';
comment on column reporting.comments.in_catalog is 'Whether the catalog lists the annotation.';
comment on column reporting.comments.author_name_then is 'The author''s name as last received with the comment. If the service sends current names, collab.user_versions has the name at first_seen_at.';
comment on column reporting.comments.author_email_then is 'The author''s e-mail address as last received with the comment.';
comment on column reporting.comments.written_at is 'When the comment was written (the service''s clock): the field COMMENT_WRITTEN_MEMBER, or else lastUpdated of the first version received, which is too late if the comment had been edited. Null if the service sent neither.';
comment on column reporting.comments.written_at_is_exact is 'True if written_at comes from COMMENT_WRITTEN_MEMBER; false if the comment may be older.';
comment on column reporting.comments.written_not_before is 'Earliest possible writing time: start of the last successful check before the one that first received the comment. Null if written_at is exact, or if there was no such check or it may have missed the comment.';

create view reporting.comments_with_deleted as
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.author_user_id,
  coalesce(u.name, c.author_name) as author_name, coalesce(u.email, c.author_email) as author_email,
  c.comment_text, c.status, c.type, c.last_updated, c.first_seen_at, c.changed_at,
  c.deleted_at is not null as is_deleted, c.deleted_at,
  a.checked_at, a.is_stale, a.active and d.active and o.active as in_catalog,
  collab_store.written_at(c.written_at, c.first_updated, c.last_updated) as written_at,
  c.written_at is not null as written_at_is_exact,
  case when c.written_at is null then c.not_before end as written_not_before
from collab_store.comments c
left join collab_store.checked_annotations a using (annotation_key)
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id;
comment on view reporting.comments_with_deleted is 'All comments ever received; deleted ones keep their last content. Key: organization_id, document_id, annotation_id, comment_id.';
comment on column reporting.comments_with_deleted.organization_id is 'The service''s organizationId.';
comment on column reporting.comments_with_deleted.document_id is 'The service''s documentId.';
comment on column reporting.comments_with_deleted.annotation_id is 'The service''s annotationId.';
comment on column reporting.comments_with_deleted.comment_id is 'The service''s commentId, unique within its annotation.';
comment on column reporting.comments_with_deleted.author_user_id is 'As in reporting.comments.';
comment on column reporting.comments_with_deleted.author_name is 'As in reporting.comments.';
comment on column reporting.comments_with_deleted.author_email is 'As in reporting.comments.';
comment on column reporting.comments_with_deleted.comment_text is 'Plain text; of deleted comments the last one received. Null if the service sent none.';
comment on column reporting.comments_with_deleted.status is 'As in collab.comments. Of deleted comments the last one received.';
comment on column reporting.comments_with_deleted.type is 'As in collab.comments. Of deleted comments the last one received.';
comment on column reporting.comments_with_deleted.last_updated is 'As in reporting.comments. Of deleted comments the last one received.';
comment on column reporting.comments_with_deleted.first_seen_at is 'As in reporting.comments.';
comment on column reporting.comments_with_deleted.changed_at is 'When a check last found the comment changed or deleted.';
comment on column reporting.comments_with_deleted.is_deleted is 'True if the service returned null for the comment''s ID.';
comment on column reporting.comments_with_deleted.deleted_at is 'When a check found the comment deleted; null while it is live.';
comment on column reporting.comments_with_deleted.checked_at is 'As in reporting.comments.';
comment on column reporting.comments_with_deleted.is_stale is 'As in reporting.comments.';
comment on column reporting.comments_with_deleted.in_catalog is 'As in reporting.comments.';
comment on column reporting.comments_with_deleted.written_at is 'As in reporting.comments.';
comment on column reporting.comments_with_deleted.written_at_is_exact is 'As in reporting.comments.';
comment on column reporting.comments_with_deleted.written_not_before is 'As in reporting.comments.';

-- Each part has its own joins, so that a filter reaches the rows of each. Comments that never changed and edited
-- comments are selected separately because each has its own index by time (comments_noticed, comments_changed).
-- Annotations are joined by the comment's key, so that PostgreSQL drops them from plans that do not need them.
create view reporting.comment_history as
select o.organization_id, d.document_id, a.annotation_id, v.comment_id, v.version, v.change,
  c.author_user_id, coalesce(u.name, c.author_name) as author_name, v.comment_text, v.status, v.type, v.last_updated,
  v.valid_from, v.valid_to,
  a.checked_at, a.is_stale, a.active and d.active and o.active as in_catalog
from collab_store.comment_versions v
join collab_store.comments c on c.annotation_key = v.annotation_key and c.comment_id = v.comment_id
left join collab_store.checked_annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
union all
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.version, c.change,
  c.author_user_id, coalesce(u.name, c.author_name), c.comment_text, c.status, c.type, c.last_updated,
  c.version_at, null,
  a.checked_at, a.is_stale, a.active and d.active and o.active
from collab_store.comments c
left join collab_store.checked_annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
where c.version = 1
union all
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.version, c.change,
  c.author_user_id, coalesce(u.name, c.author_name), c.comment_text, c.status, c.type, c.last_updated,
  c.version_at, null,
  a.checked_at, a.is_stale, a.active and d.active and o.active
from collab_store.comments c
left join collab_store.checked_annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
where c.version > 1;
comment on view reporting.comment_history is 'All versions of comments, including deletions. reporting.comments_at() returns the comments at a given time. Key: organization_id, document_id, annotation_id, comment_id, version.';
comment on column reporting.comment_history.organization_id is 'The service''s organizationId.';
comment on column reporting.comment_history.document_id is 'The service''s documentId.';
comment on column reporting.comment_history.annotation_id is 'The service''s annotationId.';
comment on column reporting.comment_history.comment_id is 'The service''s commentId, unique within its annotation.';
comment on column reporting.comment_history.version is 'Version number of the comment, from 1.';
comment on column reporting.comment_history.change is 'As in collab.comment_versions.';
comment on column reporting.comment_history.author_user_id is 'The author''s userId, as last received.';
comment on column reporting.comment_history.author_name is 'The author''s current name.';
comment on column reporting.comment_history.comment_text is 'As in collab.comment_versions.';
comment on column reporting.comment_history.status is 'Status in this version.';
comment on column reporting.comment_history.type is 'Type in this version.';
comment on column reporting.comment_history.last_updated is 'lastUpdated of this version (the service''s clock).';
comment on column reporting.comment_history.valid_from is 'As in collab.comment_versions.';
comment on column reporting.comment_history.valid_to is 'As in collab.comment_versions.';
comment on column reporting.comment_history.checked_at is 'As in reporting.comments.';
comment on column reporting.comment_history.is_stale is 'As in reporting.comments.';
comment on column reporting.comment_history.in_catalog is 'As in reporting.comments.';

create function reporting.comments_at(known_at timestamptz)
returns table (organization_id text, document_id text, annotation_id text, comment_id bigint, version integer,
  author_user_id text, author_name text, comment_text text, status text, type text, last_updated timestamptz,
  valid_from timestamptz)
language sql stable
as $$
  select h.organization_id, h.document_id, h.annotation_id, h.comment_id, h.version, h.author_user_id, h.author_name,
    h.comment_text, h.status, h.type, h.last_updated, h.valid_from
  from reporting.comment_history h
  where h.valid_from <= known_at and (h.valid_to is null or h.valid_to > known_at) and h.change <> 'deleted'
$$;
comment on function reporting.comments_at(timestamptz) is 'The live comments as known to collab-sync at the given time. Authors have their current names.';

create view reporting.edits_and_deletions as
select o.organization_id, d.document_id, a.annotation_id, v.comment_id, v.version, v.change, v.valid_from as noticed_at,
  e.valid_from as not_before, c.author_user_id, coalesce(u.name, c.author_name) as author_name, e.status as status_before, v.status,
  e.comment_text as text_before, v.comment_text, e.last_updated as last_updated_before, v.last_updated,
  round(extract(epoch from v.last_updated - e.last_updated) / 3600, 2) as hours_since_previous,
  a.checked_at, a.is_stale, a.active and d.active and o.active as in_catalog
from collab_store.comment_versions v
join collab_store.comments c on c.annotation_key = v.annotation_key and c.comment_id = v.comment_id
left join collab_store.comment_versions e
  on e.annotation_key = v.annotation_key and e.comment_id = v.comment_id and e.version = v.version - 1
left join collab_store.checked_annotations a on a.annotation_key = v.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
where v.version > 1
union all
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.version, c.change, c.version_at,
  e.valid_from, c.author_user_id, coalesce(u.name, c.author_name), e.status, c.status,
  e.comment_text, c.comment_text, e.last_updated, c.last_updated,
  round(extract(epoch from c.last_updated - e.last_updated) / 3600, 2),
  a.checked_at, a.is_stale, a.active and d.active and o.active
from collab_store.comments c
left join collab_store.comment_versions e
  on e.annotation_key = c.annotation_key and e.comment_id = c.comment_id and e.version = c.version - 1
left join collab_store.checked_annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
where c.version > 1;
comment on view reporting.edits_and_deletions is 'One row per edit, deletion or restoration of a comment, with the content before and after. Key: organization_id, document_id, annotation_id, comment_id, version.';
comment on column reporting.edits_and_deletions.organization_id is 'The service''s organizationId.';
comment on column reporting.edits_and_deletions.document_id is 'The service''s documentId.';
comment on column reporting.edits_and_deletions.annotation_id is 'The service''s annotationId.';
comment on column reporting.edits_and_deletions.comment_id is 'The service''s commentId, unique within its annotation.';
comment on column reporting.edits_and_deletions.version is 'Version number that the change created, from 2.';
comment on column reporting.edits_and_deletions.change is 'What happened: edited, deleted or restored. Several edits between two checks appear as one.';
comment on column reporting.edits_and_deletions.noticed_at is 'When a check found the change. For an edit, last_updated is more precise.';
comment on column reporting.edits_and_deletions.not_before is 'When a check first received the previous version; null if that was pruned.';
comment on column reporting.edits_and_deletions.author_user_id is 'userId of the comment''s author, who need not have made the change.';
comment on column reporting.edits_and_deletions.author_name is 'The author''s current name.';
comment on column reporting.edits_and_deletions.status_before is 'Status before the change.';
comment on column reporting.edits_and_deletions.status is 'Status after the change; for a deletion, the last one.';
comment on column reporting.edits_and_deletions.text_before is 'Plain text before the change.';
comment on column reporting.edits_and_deletions.comment_text is 'Plain text after the change; for a deletion, the last one.';
comment on column reporting.edits_and_deletions.last_updated_before is 'lastUpdated before the change (the service''s clock).';
comment on column reporting.edits_and_deletions.last_updated is 'lastUpdated after the change; for a deletion, the last one.';
comment on column reporting.edits_and_deletions.hours_since_previous is 'Hours between the two lastUpdated values; 0 for a deletion.';
comment on column reporting.edits_and_deletions.checked_at is 'As in reporting.comments.';
comment on column reporting.edits_and_deletions.is_stale is 'As in reporting.comments.';
comment on column reporting.edits_and_deletions.in_catalog is 'As in reporting.comments.';

create view reporting.status_transitions as
select t.organization_id, t.from_status, t.to_status, t.transitions, t.median_hours,
  s.annotations_checked_at as checked_at, coalesce(s.stale_annotations, 0) > 0 as is_stale, o.active as in_catalog,
  coalesce(s.stale_annotations, 0) as stale_annotations, t.transitions_not_in_catalog
from (
  select organization_id, status_before as from_status, status as to_status, count(*) as transitions,
    round((percentile_cont(0.5) within group (order by extract(epoch from last_updated - last_updated_before)) / 3600)::numeric, 2)
      as median_hours,
    count(*) filter (where not in_catalog) as transitions_not_in_catalog
  from reporting.edits_and_deletions
  where change <> 'deleted' and status is distinct from status_before and not_before is not null
  group by 1, 2, 3
) t
left join collab_store.organizations o using (organization_id)
left join collab_store.organization_checks s on s.organization_key = o.organization_key;
comment on view reporting.status_transitions is 'How often comments, including deleted ones, changed from one status to another and how long that took, by organization. For a median across organizations, use reporting.edits_and_deletions.';
comment on column reporting.status_transitions.organization_id is 'The service''s organizationId.';
comment on column reporting.status_transitions.from_status is 'Status before; null if the service sent none.';
comment on column reporting.status_transitions.to_status is 'Status after; null if the service sent none.';
comment on column reporting.status_transitions.transitions is 'Number of times a check found this change. Changes between two checks appear as one.';
comment on column reporting.status_transitions.median_hours is 'Median hours between lastUpdated of the two versions (the service''s clock).';
comment on column reporting.status_transitions.checked_at is 'As in reporting.comment_activity_daily.';
comment on column reporting.status_transitions.is_stale is 'True if stale_annotations is not 0.';
comment on column reporting.status_transitions.in_catalog is 'Whether the catalog lists the organization.';
comment on column reporting.status_transitions.stale_annotations is 'As in reporting.comment_activity_daily.';
comment on column reporting.status_transitions.transitions_not_in_catalog is 'Transitions in annotations that left the catalog.';

create view reporting.observed_values as
select v.organization_id, v.field, v.value, v.comments, v.versions, v.first_seen_at, v.last_new_at,
  s.annotations_checked_at as checked_at, coalesce(s.stale_annotations, 0) > 0 as is_stale, o.active as in_catalog,
  coalesce(s.stale_annotations, 0) as stale_annotations, v.comments_not_in_catalog
from (
  select s.organization_id, f.field, v.value, sum(s.comments)::bigint as comments, sum(s.versions)::bigint as versions,
    min(s.first_seen_at) as first_seen_at, max(s.last_new_at) as last_new_at,
    sum(s.comments_not_in_catalog)::bigint as comments_not_in_catalog
  from (
    select o.organization_id, c.status, c.type, count(*) filter (where c.deleted_at is null) as comments, count(*) as versions,
      min(c.version_at) as first_seen_at, max(c.version_at) as last_new_at, 0 as comments_not_in_catalog
    from collab_store.comments c
    join collab_store.organizations o using (organization_key)
    group by o.organization_key, 2, 3
    union all
    select o.organization_id, p.status, p.type, 0, count(*), min(p.valid_from), max(p.valid_from), 0
    from collab_store.comment_versions p
    join collab_store.annotations a using (annotation_key)
    join collab_store.documents d using (document_key)
    join collab_store.organizations o using (organization_key)
    group by o.organization_key, 2, 3
    union all
    select o.organization_id, c.status, c.type, 0, 0, null, null, count(*)
    from collab_store.annotations a
    join collab_store.documents d using (document_key)
    join collab_store.organizations o using (organization_key)
    join collab_store.comments c using (annotation_key)
    where not a.active and c.deleted_at is null
    group by o.organization_key, 2, 3
  ) s
  cross join (values ('status'), ('type')) f (field)
  cross join lateral (select case f.field when 'status' then s.status else s.type end as value) v
  group by 1, 2, 3
) v
left join collab_store.organizations o using (organization_id)
left join collab_store.organization_checks s on s.organization_key = o.organization_key;
comment on view reporting.observed_values is 'All values of status and type ever received, by organization. The service does not document the possible values.';
comment on column reporting.observed_values.organization_id is 'The service''s organizationId.';
comment on column reporting.observed_values.field is 'The field: status or type.';
comment on column reporting.observed_values.value is 'The value; null for comments without one.';
comment on column reporting.observed_values.comments is 'Live comments that currently have it.';
comment on column reporting.observed_values.versions is 'Versions of comments that had it, including past and deleted ones.';
comment on column reporting.observed_values.first_seen_at is 'When a check first received it, among stored versions. Pruning can make this later.';
comment on column reporting.observed_values.last_new_at is 'When a check last received a new version with it.';
comment on column reporting.observed_values.checked_at is 'As in reporting.comment_activity_daily.';
comment on column reporting.observed_values.is_stale is 'True if stale_annotations is not 0.';
comment on column reporting.observed_values.in_catalog is 'Whether the catalog lists the organization.';
comment on column reporting.observed_values.stale_annotations is 'As in reporting.comment_activity_daily.';
comment on column reporting.observed_values.comments_not_in_catalog is 'Comments in annotations that left the catalog.';

-- PostgreSQL drops the following joins from plans that need none of their columns.
create view reporting.comment_activity_daily as
select o.organization_id, n.day, n.comments, n.authors, n.annotations,
  s.annotations_checked_at as checked_at, coalesce(s.stale_annotations, 0) > 0 as is_stale, o.active as in_catalog,
  coalesce(s.stale_annotations, 0) as stale_annotations,
  case when o.active then coalesce(g.comments, 0) else n.comments end as comments_not_in_catalog
from collab_store.organizations o
left join collab_store.organization_checks s on s.organization_key = o.organization_key
cross join lateral (
  select c.day, count(*) as comments, count(distinct c.author_user_id) as authors,
    count(distinct c.annotation_key) as annotations
  from collab_store.comments c
  where c.organization_key = o.organization_key and c.deleted_at is null
  group by c.day
) n
left join (
  select d.organization_key, coalesce(gone.day, 'infinity') as day, count(*) as comments
  from collab_store.annotations a
  join collab_store.documents d using (document_key)
  join collab_store.comments gone using (annotation_key)
  where not a.active and gone.deleted_at is null
  group by 1, 2
) g on g.organization_key = o.organization_key and g.day = coalesce(n.day, 'infinity');
comment on view reporting.comment_activity_daily is 'Live comments by organization and the day (REPORT_TZ) on which they were written. reporting.comment_activity_daily_in() takes any time zone.';
comment on column reporting.comment_activity_daily.organization_id is 'The service''s organizationId.';
comment on column reporting.comment_activity_daily.day is 'Day (REPORT_TZ) of written_at; null if the service sent no time.';
comment on column reporting.comment_activity_daily.comments is 'Live comments of that day, including those in annotations that left the catalog.';
comment on column reporting.comment_activity_daily.authors is 'Distinct authors of these comments.';
comment on column reporting.comment_activity_daily.annotations is 'Distinct annotations with these comments.';
comment on column reporting.comment_activity_daily.checked_at is 'Least recent successful check of the organization''s annotations; null if one has none.';
comment on column reporting.comment_activity_daily.is_stale is 'True if stale_annotations is not 0.';
comment on column reporting.comment_activity_daily.in_catalog is 'Whether the catalog lists the organization.';
comment on column reporting.comment_activity_daily.stale_annotations is 'Annotations of the organization in the catalog that may be out of date.';
comment on column reporting.comment_activity_daily.comments_not_in_catalog is 'Comments in annotations that left the catalog.';

create function reporting.comment_activity_daily_in(time_zone text)
returns table (organization_id text, day date, comments bigint, authors bigint, annotations bigint)
language sql stable
as $$
  select c.organization_id, (c.written_at at time zone time_zone)::date, count(*), count(distinct c.author_user_id),
    count(distinct (c.document_id, c.annotation_id))
  from reporting.comments c
  group by 1, 2
$$;
comment on function reporting.comment_activity_daily_in(text) is 'reporting.comment_activity_daily in a given time zone. It reads all comments: with millions of them, filter by organization.';

-- The weeks of an organization are generated from its first to its last, and each is a range of comments_activity. A
-- filter on weeks then reads only these weeks, although the index is by day. Times before 2000 or after 2100 are
-- placeholders and would generate centuries of empty weeks, so they are selected separately, as are comments without
-- a time.
-- Stored comments of one author in one organization, all of them or those since a day. comments_activity begins with the
-- organization and the day: each day that has a comment is found by one probe, and the author's comments of it by another. A
-- range of the whole index would take ten times as long (docs/decisions/2026-11-21-activity-from-one-index.md).
create function collab_store.comments_by(organization integer, author text, since date) returns setof collab_store.comments
language sql stable
as $$
  select c.*
  from (
    with recursive days as (
      select min(day) as day from collab_store.comments where organization_key = organization
      union all
      select (select min(c.day) from collab_store.comments c where c.organization_key = organization and c.day > d.day)
      from days d
      where d.day is not null
    )
    select day from days where day >= since or since is null and day is not null
  ) d
  cross join lateral (
    select *
    from collab_store.comments
    where organization_key = organization and day = d.day and author_user_id = author
    offset 0
  ) c
  union all
  select *
  from collab_store.comments
  where organization_key = organization and day is null and since is null and author_user_id = author
$$;

comment on function collab_store.comments_by(integer, text, date) is 'Returns the stored comments of one author in one organization, all of them or those written since a day (REPORT_TZ).';

create view reporting.author_activity as
select w.organization_id, w.week, w.author_user_id, u.name as author_name, w.comments, w.annotations,
  s.annotations_checked_at as checked_at, coalesce(s.stale_annotations, 0) > 0 as is_stale, w.active as in_catalog,
  coalesce(s.stale_annotations, 0) as stale_annotations,
  case when w.active then coalesce(g.comments, 0) else w.comments end as comments_not_in_catalog
from (
  select o.organization_key, o.organization_id, o.active, s.week, n.author_user_id, n.comments, n.annotations
  from collab_store.organizations o
  cross join lateral (
    select min(c.day) as first_day, max(c.day) as last_day
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day >= '2000-01-03' and c.day < '2100-01-04'
  ) e
  cross join lateral (
    select m.week, m.week + 7 as next_week
    from (select generate_series(date_trunc('week', e.first_day::timestamp), e.last_day::timestamp, interval '1 week')::date as week) m
    offset 0
  ) s
  cross join lateral (
    -- Nearly all groups hold one or two comments. Sorting each of millions of groups would cost more than everything
    -- else.
    select c.author_user_id, count(*) as comments,
      case when min(c.annotation_key) = max(c.annotation_key) then 1 when count(*) = 2 then 2
        else (select count(distinct k) from unnest(array_agg(c.annotation_key)) k) end as annotations
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day >= s.week and c.day < s.next_week
    group by 1
  ) n
  union all
  select o.organization_key, o.organization_id, o.active, n.week, n.author_user_id, n.comments, n.annotations
  from collab_store.organizations o
  cross join (values (date '-infinity', date '2000-01-03'), ('2100-01-04', 'infinity')) r (first_day, end_day)
  cross join lateral (
    select date_trunc('week', c.day::timestamp)::date as week, c.author_user_id,
      count(*) as comments, count(distinct c.annotation_key) as annotations
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day >= r.first_day and c.day < r.end_day
    group by 1, 2
  ) n
  union all
  select o.organization_key, o.organization_id, o.active, null, n.author_user_id, n.comments, n.annotations
  from collab_store.organizations o
  cross join lateral (
    select c.author_user_id, count(*) as comments, count(distinct c.annotation_key) as annotations
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day is null
    group by 1
  ) n
) w
left join collab_store.users u on u.organization_key = w.organization_key and u.user_id = w.author_user_id
left join collab_store.organization_checks s on s.organization_key = w.organization_key
left join (
  select d.organization_key, coalesce(date_trunc('week', gone.day::timestamp)::date, 'infinity') as week,
    coalesce('=' || gone.author_user_id, '') as author, count(*) as comments
  from collab_store.annotations a
  join collab_store.documents d using (document_key)
  join collab_store.comments gone using (annotation_key)
  where not a.active and gone.deleted_at is null
  group by 1, 2, 3
) g on g.organization_key = w.organization_key and g.week = coalesce(w.week, 'infinity')
  and g.author = coalesce('=' || w.author_user_id, '');
comment on view reporting.author_activity is 'Live comments by organization, author and the week (REPORT_TZ) in which they were written.';
comment on column reporting.author_activity.organization_id is 'The service''s organizationId.';
comment on column reporting.author_activity.week is 'Monday (REPORT_TZ) of the week of written_at; null if the service sent no time.';
comment on column reporting.author_activity.author_user_id is 'The author''s userId; null if the service sent none.';
comment on column reporting.author_activity.author_name is 'The author''s current name.';
comment on column reporting.author_activity.comments is 'Live comments of the author in that week, including those in annotations that left the catalog.';
comment on column reporting.author_activity.annotations is 'Distinct annotations with these comments.';
comment on column reporting.author_activity.checked_at is 'As in reporting.comment_activity_daily.';
comment on column reporting.author_activity.is_stale is 'True if stale_annotations is not 0.';
comment on column reporting.author_activity.in_catalog is 'Whether the catalog lists the organization.';
comment on column reporting.author_activity.stale_annotations is 'As in reporting.comment_activity_daily.';
comment on column reporting.author_activity.comments_not_in_catalog is 'Comments in annotations that left the catalog.';

create function reporting.author_activity_in(time_zone text)
returns table (organization_id text, week date, author_user_id text, author_name text, comments bigint, annotations bigint)
language sql stable
as $$
  select c.organization_id, date_trunc('week', c.written_at at time zone time_zone)::date, c.author_user_id, min(u.name), count(*),
    count(distinct (c.document_id, c.annotation_id))
  from reporting.comments c
  left join collab.users u on u.organization_id = c.organization_id and u.user_id = c.author_user_id
  group by 1, 2, 3
$$;
comment on function reporting.author_activity_in(text) is 'reporting.author_activity in a given time zone. See reporting.comment_activity_daily_in().';

create view reporting.thread_summary as
select o.organization_id, d.document_id, a.annotation_id, a.comment_count as comments, cardinality(a.authors) as people,
  a.first_comment_at, a.last_comment_at, a.first_answer_at,
  round(extract(epoch from a.first_answer_at - a.first_comment_at) / 3600, 2) as hours_to_first_answer,
  round(extract(epoch from now() - a.last_comment_at) / 3600, 2) as hours_since_last_comment,
  a.changed_at, a.checked_at, a.is_stale,
  a.active and d.active and o.active as in_catalog, o.name as organization_name, d.name as document_name
from collab_store.checked_annotations a
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key);
comment on view reporting.thread_summary is 'One row per annotation, with its live comments. Key: organization_id, document_id, annotation_id.';
comment on column reporting.thread_summary.organization_id is 'The service''s organizationId.';
comment on column reporting.thread_summary.document_id is 'The service''s documentId.';
comment on column reporting.thread_summary.annotation_id is 'The service''s annotationId.';
comment on column reporting.thread_summary.comments is 'Live comments.';
comment on column reporting.thread_summary.people is 'Distinct authors (userIds) of the live comments.';
comment on column reporting.thread_summary.first_comment_at is 'When the first live comment was written (written_at of reporting.comments).';
comment on column reporting.thread_summary.last_comment_at is 'When the last live comment was written; edits do not move it.';
comment on column reporting.thread_summary.first_answer_at is 'When an author other than that of the first comment first wrote; null if none did or the first author is unknown.';
comment on column reporting.thread_summary.hours_to_first_answer is 'Hours from first_comment_at to first_answer_at.';
comment on column reporting.thread_summary.hours_since_last_comment is 'Hours from last_comment_at to now.';
comment on column reporting.thread_summary.changed_at is 'As in collab.annotations.';
comment on column reporting.thread_summary.checked_at is 'As in reporting.comments.';
comment on column reporting.thread_summary.is_stale is 'As in reporting.comments.';
comment on column reporting.thread_summary.in_catalog is 'As in reporting.comments.';
comment on column reporting.thread_summary.organization_name is 'The organization''s display name; null if none.';
comment on column reporting.thread_summary.document_name is 'The document''s display name; null if none.';

create view reporting.document_engagement as
select o.organization_id, d.document_id, t.annotations, t.annotations_with_comments, t.comments, cardinality(p.authors)::bigint as people,
  m.members, m.members_who_comment, t.first_comment_at, t.last_comment_at,
  round(extract(epoch from now() - t.last_comment_at) / 86400, 2) as days_since_last_comment,
  case when l.checked_at is not null and t.all_checked then least(l.checked_at, t.checked_at) end as checked_at,
  l.is_stale or t.stale_annotations > 0 as is_stale,
  d.active and o.active as in_catalog, t.stale_annotations,
  case when d.active and o.active then t.comments_not_in_catalog else t.comments end as comments_not_in_catalog,
  o.name as organization_name, d.name as document_name
from collab_store.documents d
join collab_store.organizations o using (organization_key)
left join collab_store.checked_listings l on l.kind = 'document' and l.scope_key = d.document_key and l.operation = 'users'
cross join lateral (
  select count(*) filter (where a.active) as annotations, count(*) filter (where a.comment_count > 0) as annotations_with_comments,
    coalesce(sum(a.comment_count), 0) as comments, min(a.first_comment_at) as first_comment_at,
    max(a.last_comment_at) as last_comment_at,
    min(a.checked_at) filter (where a.active) as checked_at,
    coalesce(bool_and(a.checked_at is not null) filter (where a.active), true) as all_checked,
    count(*) filter (where a.active and a.is_stale) as stale_annotations,
    coalesce(sum(a.comment_count) filter (where not a.active), 0) as comments_not_in_catalog
  from collab_store.checked_annotations a
  where a.document_key = d.document_key
) t
cross join lateral (
  -- In the select list, because a join to unnest() costs ten times as much.
  select coalesce(array_agg(distinct x.author collate "C"), '{}') as authors
  from (select unnest(a.authors) as author from collab_store.annotations a where a.document_key = d.document_key and a.comment_count > 0) x
) p
cross join lateral (
  select count(*) as members, count(*) filter (where s.user_id = any(p.authors)) as members_who_comment
  from collab_store.document_users s
  where s.document_key = d.document_key and s.removed_at is null
) m;
comment on view reporting.document_engagement is 'One row per document, with its live comments and current members. Key: organization_id, document_id.';
comment on column reporting.document_engagement.organization_id is 'The service''s organizationId.';
comment on column reporting.document_engagement.document_id is 'The service''s documentId.';
comment on column reporting.document_engagement.annotations is 'Annotations of the document in the catalog.';
comment on column reporting.document_engagement.annotations_with_comments is 'Annotations with at least one live comment.';
comment on column reporting.document_engagement.comments is 'Live comments, including those in annotations that left the catalog.';
comment on column reporting.document_engagement.people is 'Distinct authors (userIds) of the live comments, members or not.';
comment on column reporting.document_engagement.members is 'Members of the document as of its last check.';
comment on column reporting.document_engagement.members_who_comment is 'Members who wrote at least one live comment.';
comment on column reporting.document_engagement.first_comment_at is 'When the first live comment was written (written_at of reporting.comments).';
comment on column reporting.document_engagement.last_comment_at is 'When the last live comment was written; edits do not move it.';
comment on column reporting.document_engagement.days_since_last_comment is 'Days from last_comment_at to now.';
comment on column reporting.document_engagement.checked_at is 'Oldest last successful check of the document''s user listing and annotations; null if one was never checked.';
comment on column reporting.document_engagement.is_stale is 'True if its user listing, or the comments of one of its annotations in the catalog, may be out of date.';
comment on column reporting.document_engagement.in_catalog is 'Whether the catalog lists the document and its organization.';
comment on column reporting.document_engagement.stale_annotations is 'Annotations of the document in the catalog that may be out of date.';
comment on column reporting.document_engagement.comments_not_in_catalog is 'Comments in annotations that left the catalog.';
comment on column reporting.document_engagement.organization_name is 'The organization''s display name; null if none.';
comment on column reporting.document_engagement.document_name is 'The document''s display name; null if none.';
