-- Up Migration
-- Answers for analysts: the comments themselves, and what became of them. Views run with their owner's rights; functions
-- with the caller's, over those views, so that whoever may read a view may use its function and nobody more.
-- Changed later only by adding columns at the end of views.
create schema reporting;
comment on schema reporting is 'Ready answers for analysts, one question a view. Times are UTC; deleted comments are left out unless the name says otherwise.';

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
comment on column reporting.comments.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.comments.document_id is 'documentId of the service: the document that was asked for.';
comment on column reporting.comments.annotation_id is 'annotationId of the service: the comment annotation that was asked for.';
comment on column reporting.comments.comment_id is 'commentId of the service, unique within its annotation.';
comment on column reporting.comments.author_user_id is 'userId of the author.';
comment on column reporting.comments.author_name is 'The author''s current name, or as received with the comment where the person is not known otherwise.';
comment on column reporting.comments.author_email is 'The author''s current e-mail address, or as received with the comment.';
comment on column reporting.comments.comment_text is 'Plain text; null where the service left it out, as in a voice comment.';
comment on column reporting.comments.status is 'Status as received, such as added; the service does not document its set of values.';
comment on column reporting.comments.type is 'Type as received, such as text; the service does not document its set of values.';
comment on column reporting.comments.last_updated is 'lastUpdated of the service (the service''s clock): when it was written or last edited. What speaks of writing goes by written_at.';
comment on column reporting.comments.first_seen_at is 'When a check first saw the comment (our clock).';
comment on column reporting.comments.changed_at is 'When a check last found the comment changed (our clock).';
comment on column reporting.comments.checked_at is 'When the last good reading of the comments of its annotation began (our clock); null if there was none.';
comment on column reporting.comments.is_stale is 'True where the comments of its annotation may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column reporting.comments.in_catalog is 'True while the catalog lists its annotation: only then is it checked.';
comment on column reporting.comments.author_name_then is 'The author''s name as last received with the comment itself: the one of then where the service keeps it so. Where it sends current names with old comments, collab.user_versions has the name at first_seen_at.';
comment on column reporting.comments.author_email_then is 'The author''s e-mail address as last received with the comment itself.';
comment on column reporting.comments.written_at is 'When the comment was written (the service''s clock): what the member named by COMMENT_WRITTEN_MEMBER says; without it lastUpdated of the first version that a check saw, which is later where it was edited before. Null where the service told neither.';
comment on column reporting.comments.written_at_is_exact is 'True where the comment itself says when it was written (COMMENT_WRITTEN_MEMBER); false where it may have been earlier than written_at.';
comment on column reporting.comments.written_not_before is 'When the last good check of the thread before the first look at the comment began (our clock): it was written later. Null where written_at is exact, at the thread''s first look, and where that check may have missed the comment.';

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
comment on view reporting.comments_with_deleted is 'Every comment ever seen, deleted ones with their last content. Which comments were there, and which are gone? Key: organization_id, document_id, annotation_id, comment_id.';
comment on column reporting.comments_with_deleted.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.comments_with_deleted.document_id is 'documentId of the service: the document that was asked for.';
comment on column reporting.comments_with_deleted.annotation_id is 'annotationId of the service: the comment annotation that was asked for.';
comment on column reporting.comments_with_deleted.comment_id is 'commentId of the service, unique within its annotation.';
comment on column reporting.comments_with_deleted.author_user_id is 'userId of the author.';
comment on column reporting.comments_with_deleted.author_name is 'The author''s current name, or as received with the comment where the person is not known otherwise.';
comment on column reporting.comments_with_deleted.author_email is 'The author''s current e-mail address, or as received with the comment.';
comment on column reporting.comments_with_deleted.comment_text is 'Plain text, of deleted comments the last one seen; null where the service left it out, as in a voice comment.';
comment on column reporting.comments_with_deleted.status is 'Last status received, such as added; the service does not document its set of values.';
comment on column reporting.comments_with_deleted.type is 'Last type received, such as text; the service does not document its set of values.';
comment on column reporting.comments_with_deleted.last_updated is 'lastUpdated of the service (the service''s clock), of deleted comments the last one seen.';
comment on column reporting.comments_with_deleted.first_seen_at is 'When a check first saw the comment (our clock); it was written between that check and the one before.';
comment on column reporting.comments_with_deleted.changed_at is 'When a check last found the comment changed, its deletion included (our clock).';
comment on column reporting.comments_with_deleted.is_deleted is 'True where the service answered that there is no such comment any more.';
comment on column reporting.comments_with_deleted.deleted_at is 'When a check found the comment deleted (our clock); it was deleted between that check and the one before. Null while it is live.';
comment on column reporting.comments_with_deleted.checked_at is 'When the last good reading of the comments of its annotation began (our clock); null if there was none.';
comment on column reporting.comments_with_deleted.is_stale is 'True where the comments of its annotation may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column reporting.comments_with_deleted.in_catalog is 'True while the catalog lists its annotation: only then is it checked.';
comment on column reporting.comments_with_deleted.written_at is 'When the comment was written (the service''s clock): what the member named by COMMENT_WRITTEN_MEMBER says; without it lastUpdated of the first version that a check saw, which is later where it was edited before. Null where the service told neither.';
comment on column reporting.comments_with_deleted.written_at_is_exact is 'True where the comment itself says when it was written (COMMENT_WRITTEN_MEMBER); false where it may have been earlier than written_at.';
comment on column reporting.comments_with_deleted.written_not_before is 'When the last good check of the thread before the first look at the comment began (our clock): it was written later. Null where written_at is exact, at the thread''s first look, and where that check may have missed the comment.';

-- Each part joined by itself, so that a narrowing reaches the rows of each. Comments that never changed and edited ones are
-- asked for apart, because each have an index by time of their own (comments_noticed, comments_changed). Joined by the comment's key, annotations leave the
-- plan where nothing of them is asked for.
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
comment on view reporting.comment_history is 'Every version of every comment, deletions included. What did a comment say, and when? reporting.comments_at() shows all of them at one time. Key: organization_id, document_id, annotation_id, comment_id, version.';
comment on column reporting.comment_history.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.comment_history.document_id is 'documentId of the service: the document that was asked for.';
comment on column reporting.comment_history.annotation_id is 'annotationId of the service: the comment annotation that was asked for.';
comment on column reporting.comment_history.comment_id is 'commentId of the service, unique within its annotation.';
comment on column reporting.comment_history.version is 'Counts from 1 within the comment.';
comment on column reporting.comment_history.change is 'What made this version: added, edited, deleted or restored. A deleted version repeats the last content.';
comment on column reporting.comment_history.author_user_id is 'userId of the author, as last received.';
comment on column reporting.comment_history.author_name is 'The author''s current name.';
comment on column reporting.comment_history.comment_text is 'Plain text of this version; null where the service left it out.';
comment on column reporting.comment_history.status is 'Status in this version.';
comment on column reporting.comment_history.type is 'Type in this version.';
comment on column reporting.comment_history.last_updated is 'lastUpdated of this version (the service''s clock).';
comment on column reporting.comment_history.valid_from is 'When a check first saw this version (our clock); it came to be between that check and the one before.';
comment on column reporting.comment_history.valid_to is 'When a check first saw the next version (our clock); null for the one that holds now.';
comment on column reporting.comment_history.checked_at is 'When the last good reading of the comments of its annotation began (our clock); null if there was none.';
comment on column reporting.comment_history.is_stale is 'True where the comments of its annotation may be out of date: there may be a newer version that no check has seen.';
comment on column reporting.comment_history.in_catalog is 'True while the catalog lists its annotation: only then is it checked.';

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
comment on function reporting.comments_at(timestamptz) is 'The live comments as they were known at that time (our clock): what a query would have found then. Authors have their current names.';

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
comment on view reporting.edits_and_deletions is 'One row an edit, deletion or come-back of a comment, with what it was before. What was changed after it was written, and what was taken away? Key: organization_id, document_id, annotation_id, comment_id, version.';
comment on column reporting.edits_and_deletions.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.edits_and_deletions.document_id is 'documentId of the service: the document that was asked for.';
comment on column reporting.edits_and_deletions.annotation_id is 'annotationId of the service: the comment annotation that was asked for.';
comment on column reporting.edits_and_deletions.comment_id is 'commentId of the service, unique within its annotation.';
comment on column reporting.edits_and_deletions.version is 'Number of the version that the change made, from 2.';
comment on column reporting.edits_and_deletions.change is 'What happened: edited, deleted or restored. Several edits between two checks are seen as one.';
comment on column reporting.edits_and_deletions.noticed_at is 'When a check found the change (our clock). It happened between that check and the one before; of an edit, last_updated tells the time by the service''s clock.';
comment on column reporting.edits_and_deletions.not_before is 'When a check first saw the version before (our clock): the change is later than that. Null where that version was pruned.';
comment on column reporting.edits_and_deletions.author_user_id is 'userId of the comment''s author; who made the change is not told by the service.';
comment on column reporting.edits_and_deletions.author_name is 'The author''s current name.';
comment on column reporting.edits_and_deletions.status_before is 'Status before the change.';
comment on column reporting.edits_and_deletions.status is 'Status after it; of a deletion the last one.';
comment on column reporting.edits_and_deletions.text_before is 'Plain text before the change.';
comment on column reporting.edits_and_deletions.comment_text is 'Plain text after it; of a deletion the last one.';
comment on column reporting.edits_and_deletions.last_updated_before is 'lastUpdated before the change (the service''s clock).';
comment on column reporting.edits_and_deletions.last_updated is 'lastUpdated after it (the service''s clock); of a deletion the last one.';
comment on column reporting.edits_and_deletions.hours_since_previous is 'Hours between the two lastUpdated; 0 for a deletion, whose time the service does not tell.';
comment on column reporting.edits_and_deletions.checked_at is 'When the last good reading of the comments of its annotation began (our clock); null if there was none.';
comment on column reporting.edits_and_deletions.is_stale is 'True where the comments of its annotation may be out of date: there may be changes that no check has seen.';
comment on column reporting.edits_and_deletions.in_catalog is 'True while the catalog lists its annotation: only then is it checked.';

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
comment on view reporting.status_transitions is 'How often a comment''s status went from one value to another, and how long it stayed, by organization; deleted comments'' past included. How fast are comments resolved? For a median over several organizations take reporting.edits_and_deletions.';
comment on column reporting.status_transitions.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.status_transitions.from_status is 'Status before; null where the service left it out.';
comment on column reporting.status_transitions.to_status is 'Status after; null where the service left it out.';
comment on column reporting.status_transitions.transitions is 'How often a check found that change. Changes between two checks are seen as one.';
comment on column reporting.status_transitions.median_hours is 'Median of the hours between lastUpdated of the two versions (the service''s clock).';
comment on column reporting.status_transitions.checked_at is 'When the oldest of the last good checks of the organization''s annotations in the catalog began (our clock); null where one was never checked.';
comment on column reporting.status_transitions.is_stale is 'True where stale_annotations is not 0: there may be changes that no check has seen.';
comment on column reporting.status_transitions.in_catalog is 'True while the catalog lists the organization: only then is it checked.';
comment on column reporting.status_transitions.stale_annotations is 'How many of the organization''s annotations in the catalog may be out of date, as reporting.freshness tells it.';
comment on column reporting.status_transitions.transitions_not_in_catalog is 'How many of the transitions are in annotations that left the catalog, and are no longer checked.';

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
comment on view reporting.observed_values is 'Every status and type that was ever received, by organization: the service does not document their sets. Which values must a report expect, and is there a new one?';
comment on column reporting.observed_values.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.observed_values.field is 'Which member the value was in: status or type.';
comment on column reporting.observed_values.value is 'The value; null stands for comments whose status or type the service left out.';
comment on column reporting.observed_values.comments is 'Live comments that have it now.';
comment on column reporting.observed_values.versions is 'Versions of comments that had it, past ones and deletions included.';
comment on column reporting.observed_values.first_seen_at is 'When a check first saw it (our clock), of the versions that are kept: `prune` may leave it later.';
comment on column reporting.observed_values.last_new_at is 'When a check last saw a new version with it (our clock).';
comment on column reporting.observed_values.checked_at is 'When the oldest of the last good checks of the organization''s annotations in the catalog began (our clock); null where one was never checked.';
comment on column reporting.observed_values.is_stale is 'True where stale_annotations is not 0: there may be a value that no check has seen.';
comment on column reporting.observed_values.in_catalog is 'True while the catalog lists the organization: only then is it checked.';
comment on column reporting.observed_values.stale_annotations is 'How many of the organization''s annotations in the catalog may be out of date, as reporting.freshness tells it.';
comment on column reporting.observed_values.comments_not_in_catalog is 'How many of the comments are in annotations that left the catalog, and are no longer checked.';

-- The joins of what follows leave the plan where none of their columns is asked for.
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
comment on view reporting.comment_activity_daily is 'Comments by organization and the day (REPORT_TZ) on which they were written; live comments only. reporting.comment_activity_daily_in() takes any time zone.';
comment on column reporting.comment_activity_daily.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.comment_activity_daily.day is 'Day in REPORT_TZ (UTC where it is not set) on which the comments were written (written_at of reporting.comments): an edit moves none. Null where the service gave no time.';
comment on column reporting.comment_activity_daily.comments is 'Live comments written on that day, those in annotations that left the catalog too.';
comment on column reporting.comment_activity_daily.authors is 'Different authors among them.';
comment on column reporting.comment_activity_daily.annotations is 'Different annotations among them.';
comment on column reporting.comment_activity_daily.checked_at is 'When the oldest of the last good checks of the organization''s annotations in the catalog began (our clock); null where one was never checked.';
comment on column reporting.comment_activity_daily.is_stale is 'True where stale_annotations is not 0: any day may lack something.';
comment on column reporting.comment_activity_daily.in_catalog is 'True while the catalog lists the organization: only then is it checked.';
comment on column reporting.comment_activity_daily.stale_annotations is 'How many of the organization''s annotations in the catalog may be out of date, as reporting.freshness tells it.';
comment on column reporting.comment_activity_daily.comments_not_in_catalog is 'How many of the comments are in annotations that left the catalog, and are no longer checked.';

create function reporting.comment_activity_daily_in(time_zone text)
returns table (organization_id text, day date, comments bigint, authors bigint, annotations bigint)
language sql stable
as $$
  select c.organization_id, (c.written_at at time zone time_zone)::date, count(*), count(distinct c.author_user_id),
    count(distinct (c.document_id, c.annotation_id))
  from reporting.comments c
  group by 1, 2
$$;
comment on function reporting.comment_activity_daily_in(text) is 'reporting.comment_activity_daily by the days of any time zone, such as ''Europe/Berlin''. It reads the comments themselves: narrow it to an organization where there are millions.';

-- The weeks of an organization are counted up from its first to its last, each a range of comments_activity: so a
-- narrowing to weeks reads those weeks alone, though the index is by days. Times before 2000 and after 2100 are placeholders
-- rather than times, and would make centuries of empty weeks: they are looked for by themselves, as is no time at all.
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
    -- Nearly all groups hold one comment, or two: to sort each of millions of them costs more than all the rest.
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
comment on view reporting.author_activity is 'Live comments by organization, the week in which they were written, and author. Who writes how much, and since when no more?';
comment on column reporting.author_activity.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.author_activity.week is 'The Monday (REPORT_TZ, UTC where it is not set) on which the week begins in which the comments were written (written_at of reporting.comments): an edit moves none. Null where the service gave no time.';
comment on column reporting.author_activity.author_user_id is 'userId of the author; null where the service named none.';
comment on column reporting.author_activity.author_name is 'The author''s current name.';
comment on column reporting.author_activity.comments is 'Live comments that the author wrote in that week, those in annotations that left the catalog too.';
comment on column reporting.author_activity.annotations is 'Different annotations among them.';
comment on column reporting.author_activity.checked_at is 'When the oldest of the last good checks of the organization''s annotations in the catalog began (our clock); null where one was never checked.';
comment on column reporting.author_activity.is_stale is 'True where stale_annotations is not 0: any week may lack something.';
comment on column reporting.author_activity.in_catalog is 'True while the catalog lists the organization: only then is it checked.';
comment on column reporting.author_activity.stale_annotations is 'How many of the organization''s annotations in the catalog may be out of date, as reporting.freshness tells it.';
comment on column reporting.author_activity.comments_not_in_catalog is 'How many of the comments are in annotations that left the catalog, and are no longer checked.';

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
comment on function reporting.author_activity_in(text) is 'reporting.author_activity by the weeks of any time zone, as reporting.comment_activity_daily_in().';

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
comment on view reporting.thread_summary is 'One row an annotation with its live comments. Which threads are busy, answered late, or forgotten? Key: organization_id, document_id, annotation_id.';
comment on column reporting.thread_summary.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.thread_summary.document_id is 'documentId of the service: the document that was asked for.';
comment on column reporting.thread_summary.annotation_id is 'annotationId of the service: the comment annotation that was asked for.';
comment on column reporting.thread_summary.comments is 'Live comments in it; 0 where there are none.';
comment on column reporting.thread_summary.people is 'Different authors (userIds) of the live comments.';
comment on column reporting.thread_summary.first_comment_at is 'When the first of the live comments was written (written_at of reporting.comments).';
comment on column reporting.thread_summary.last_comment_at is 'When the last of the live comments was written; edits do not move it.';
comment on column reporting.thread_summary.first_answer_at is 'When somebody else than the first comment''s author first wrote; null while nobody did, and where the first author is not known.';
comment on column reporting.thread_summary.hours_to_first_answer is 'Hours from first_comment_at to first_answer_at.';
comment on column reporting.thread_summary.hours_since_last_comment is 'Hours from last_comment_at to now.';
comment on column reporting.thread_summary.changed_at is 'When a check last found any of its comments added, changed, deleted or restored (our clock).';
comment on column reporting.thread_summary.checked_at is 'When the last good reading of the comments of the annotation began (our clock); null if there was none.';
comment on column reporting.thread_summary.is_stale is 'True where the comments of the annotation may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column reporting.thread_summary.in_catalog is 'True while the catalog lists the annotation: only then is it checked.';
comment on column reporting.thread_summary.organization_name is 'Name of the organization for people, from the catalog lines; null where none was given.';
comment on column reporting.thread_summary.document_name is 'Name of the document for people, from the catalog lines; null where none was given.';

create view reporting.document_engagement as
select o.organization_id, d.document_id, t.annotations, t.annotations_with_comments, t.comments, cardinality(p.authors)::bigint as people,
  m.members, m.members_who_comment, t.first_comment_at, t.last_comment_at,
  round(extract(epoch from now() - t.last_comment_at) / 86400, 2) as days_since_last_comment,
  case when l.checked_at is not null and t.all_checked then least(l.checked_at, t.checked_at) end as checked_at,
  collab_store.is_stale(l.checked_at, d.failing_since, (select stale_before from collab_store.promise))
    or t.stale_annotations > 0 as is_stale,
  d.active and o.active as in_catalog, t.stale_annotations,
  case when d.active and o.active then t.comments_not_in_catalog else t.comments end as comments_not_in_catalog,
  o.name as organization_name, d.name as document_name
from collab_store.documents d
join collab_store.organizations o using (organization_key)
left join collab_store.batches own on own.batch_key = d.batch_key
cross join lateral (select collab_store.last_good_check(d.own_checked_at, own.checked_at) as checked_at) l
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
  select coalesce(array_agg(distinct x.author collate "C"), '{}') as authors
  from collab_store.annotations a, unnest(a.authors) x (author)
  where a.document_key = d.document_key
) p
cross join lateral (
  select count(*) as members, count(*) filter (where s.user_id = any(p.authors)) as members_who_comment
  from collab_store.document_users s
  where s.document_key = d.document_key and s.removed_at is null
) m;
comment on view reporting.document_engagement is 'One row a document with its live comments and present members. Which documents are discussed, and by how many of those who are in them? Key: organization_id, document_id.';
comment on column reporting.document_engagement.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.document_engagement.document_id is 'documentId of the service: the document that was asked for.';
comment on column reporting.document_engagement.annotations is 'Annotations in it that the catalog lists.';
comment on column reporting.document_engagement.annotations_with_comments is 'Annotations with at least one live comment.';
comment on column reporting.document_engagement.comments is 'Live comments, those in annotations that left the catalog too.';
comment on column reporting.document_engagement.people is 'Different authors (userIds) of the live comments, members or not.';
comment on column reporting.document_engagement.members is 'People in the document as of its last check.';
comment on column reporting.document_engagement.members_who_comment is 'Members who wrote at least one of the live comments.';
comment on column reporting.document_engagement.first_comment_at is 'When the first of the live comments was written (written_at of reporting.comments).';
comment on column reporting.document_engagement.last_comment_at is 'When the last of the live comments was written; edits do not move it.';
comment on column reporting.document_engagement.days_since_last_comment is 'Days from last_comment_at to now.';
comment on column reporting.document_engagement.checked_at is 'When the oldest of the last good checks of the document''s listing of users and of its annotations in the catalog began (our clock); null where one was never checked.';
comment on column reporting.document_engagement.is_stale is 'True where its listing of users or the comments of one of its annotations in the catalog may be out of date.';
comment on column reporting.document_engagement.in_catalog is 'True while the catalog lists the document and its organization: only then is it checked.';
comment on column reporting.document_engagement.stale_annotations is 'How many of its annotations in the catalog may be out of date, as reporting.freshness tells it.';
comment on column reporting.document_engagement.comments_not_in_catalog is 'How many of the comments are in annotations that left the catalog, and are no longer checked.';
comment on column reporting.document_engagement.organization_name is 'Name of the organization for people, from the catalog lines; null where none was given.';
comment on column reporting.document_engagement.document_name is 'Name of the document for people, from the catalog lines; null where none was given.';
