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
  c.comment_text, c.status, c.type, c.last_updated, c.first_seen_at, c.changed_at
from collab_store.comments c
left join collab_store.annotations a using (annotation_key)
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
comment on column reporting.comments.last_updated is 'lastUpdated of the service (the service''s clock).';
comment on column reporting.comments.first_seen_at is 'When a check first saw the comment (our clock).';
comment on column reporting.comments.changed_at is 'When a check last found the comment changed (our clock).';

create view reporting.comments_with_deleted as
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.author_user_id,
  coalesce(u.name, c.author_name) as author_name, coalesce(u.email, c.author_email) as author_email,
  c.comment_text, c.status, c.type, c.last_updated, c.first_seen_at, c.changed_at,
  c.deleted_at is not null as is_deleted, c.deleted_at
from collab_store.comments c
left join collab_store.annotations a using (annotation_key)
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

-- Each part joined by itself, so that a narrowing reaches the rows of each. Comments that never changed and edited ones are
-- asked for apart, because each have an index by time of their own (comments_noticed, comments_changed). A role of one
-- organization reads each of its comments once, whatever its version. Joined by the comment's key, annotations leave the
-- plan where nothing of them is asked for.
create view reporting.comment_history as
select o.organization_id, d.document_id, a.annotation_id, v.comment_id, v.version, v.change,
  c.author_user_id, coalesce(u.name, c.author_name) as author_name, v.comment_text, v.status, v.type, v.last_updated,
  v.valid_from, v.valid_to
from collab_store.comment_versions v
join collab_store.comments c on c.annotation_key = v.annotation_key and c.comment_id = v.comment_id
  and (c.version <> 1 or not collab_store.reads_granted_only())
left join collab_store.annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
union all
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.version, c.change,
  c.author_user_id, coalesce(u.name, c.author_name), c.comment_text, c.status, c.type, c.last_updated,
  c.version_at, null
from collab_store.comments c
left join collab_store.annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
where c.version = 1 or collab_store.reads_granted_only()
union all
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.version, c.change,
  c.author_user_id, coalesce(u.name, c.author_name), c.comment_text, c.status, c.type, c.last_updated,
  c.version_at, null
from collab_store.comments c
left join collab_store.annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
where c.version > 1 and not collab_store.reads_granted_only();
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
  b.valid_from as not_before, c.author_user_id, coalesce(u.name, c.author_name) as author_name, b.status as status_before, v.status,
  b.comment_text as text_before, v.comment_text, b.last_updated as last_updated_before, v.last_updated,
  round(extract(epoch from v.last_updated - b.last_updated) / 3600, 2) as hours_since_previous
from collab_store.comment_versions v
join collab_store.comments c on c.annotation_key = v.annotation_key and c.comment_id = v.comment_id
left join collab_store.comment_versions b
  on b.annotation_key = v.annotation_key and b.comment_id = v.comment_id and b.version = v.version - 1
left join collab_store.annotations a on a.annotation_key = v.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
where v.version > 1
union all
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.version, c.change, c.version_at,
  b.valid_from, c.author_user_id, coalesce(u.name, c.author_name), b.status, c.status,
  b.comment_text, c.comment_text, b.last_updated, c.last_updated,
  round(extract(epoch from c.last_updated - b.last_updated) / 3600, 2)
from collab_store.comments c
left join collab_store.comment_versions b
  on b.annotation_key = c.annotation_key and b.comment_id = c.comment_id and b.version = c.version - 1
left join collab_store.annotations a on a.annotation_key = c.annotation_key
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

create view reporting.status_transitions as
select organization_id, status_before as from_status, status as to_status, count(*) as transitions,
  round((percentile_cont(0.5) within group (order by extract(epoch from last_updated - last_updated_before)) / 3600)::numeric, 2)
    as median_hours
from reporting.edits_and_deletions
where change <> 'deleted' and status is distinct from status_before and not_before is not null
group by 1, 2, 3;
comment on view reporting.status_transitions is 'How often a comment''s status went from one value to another, and how long it stayed, by organization; deleted comments'' past included. How fast are comments resolved? For a median over several organizations take reporting.edits_and_deletions.';
comment on column reporting.status_transitions.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.status_transitions.from_status is 'Status before; null where the service left it out.';
comment on column reporting.status_transitions.to_status is 'Status after; null where the service left it out.';
comment on column reporting.status_transitions.transitions is 'How often a check found that change. Changes between two checks are seen as one.';
comment on column reporting.status_transitions.median_hours is 'Median of the hours between lastUpdated of the two versions (the service''s clock).';

create view reporting.observed_values as
select s.organization_id, f.field, v.value, sum(s.comments)::bigint as comments, sum(s.versions)::bigint as versions,
  min(s.first_seen_at) as first_seen_at, max(s.last_new_at) as last_new_at
from (
  select o.organization_id, c.status, c.type, count(*) filter (where c.deleted_at is null) as comments, count(*) as versions,
    min(c.version_at) as first_seen_at, max(c.version_at) as last_new_at
  from collab_store.comments c
  join collab_store.organizations o using (organization_key)
  group by o.organization_key, 2, 3
  union all
  select o.organization_id, p.status, p.type, 0, count(*), min(p.valid_from), max(p.valid_from)
  from collab_store.comment_versions p
  join collab_store.annotations a using (annotation_key)
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  group by o.organization_key, 2, 3
) s
cross join (values ('status'), ('type')) f (field)
cross join lateral (select case f.field when 'status' then s.status else s.type end as value) v
group by 1, 2, 3;
comment on view reporting.observed_values is 'Every status and type that was ever received, by organization: the service does not document their sets. Which values must a report expect, and is there a new one?';
comment on column reporting.observed_values.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.observed_values.field is 'Which member the value was in: status or type.';
comment on column reporting.observed_values.value is 'The value; null stands for comments whose status or type the service left out.';
comment on column reporting.observed_values.comments is 'Live comments that have it now.';
comment on column reporting.observed_values.versions is 'Versions of comments that had it, past ones and deletions included.';
comment on column reporting.observed_values.first_seen_at is 'When a check first saw it (our clock).';
comment on column reporting.observed_values.last_new_at is 'When a check last saw a new version with it (our clock).';
