-- Up Migration
-- First answers for analysts. Changed later only by adding columns at their end.

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
comment on view reporting.comments is 'Live comments with their author''s current name and e-mail address.';
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

create view reporting.comment_activity_daily as
select o.organization_id, (c.last_updated at time zone 'UTC')::date as day,
  count(*) as comments, count(distinct c.author_user_id) as authors,
  count(distinct c.annotation_key) as annotations
from collab_store.comments c
join collab_store.annotations a using (annotation_key)
join collab_store.documents d using (document_key)
join collab_store.organizations o on o.organization_key = d.organization_key
where c.deleted_at is null
group by 1, 2;
comment on view reporting.comment_activity_daily is 'Comments by organization and day (UTC) of the service''s lastUpdated; live comments only.';
comment on column reporting.comment_activity_daily.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.comment_activity_daily.day is 'Day in UTC of the comments'' lastUpdated (the service''s clock): an edit moves a comment to the day of the edit. Null where the service gave no time.';
comment on column reporting.comment_activity_daily.comments is 'Live comments last updated on that day.';
comment on column reporting.comment_activity_daily.authors is 'Different authors among them.';
comment on column reporting.comment_activity_daily.annotations is 'Different annotations among them.';

create view reporting.freshness as
select 'organization' as level, x.organization_id, null::text as document_id, null::text as annotation_id,
  null::text as organization_user_group_id, x.checked_at, now() - x.checked_at as age
from collab.organizations x where x.active
union all
select 'user group', x.organization_id, null, null, x.organization_user_group_id, x.checked_at, now() - x.checked_at
from collab.user_groups x where x.active
union all
select 'document', x.organization_id, x.document_id, null, null, x.checked_at, now() - x.checked_at
from collab.documents x where x.active
union all
select 'annotation', x.organization_id, x.document_id, x.annotation_id, null, x.checked_at, now() - x.checked_at
from collab.annotations x where x.active;
comment on view reporting.freshness is 'Age of the last good check, one row an active organization, user group, document and annotation.';
comment on column reporting.freshness.level is 'What the row is about: organization, user group, document or annotation.';
comment on column reporting.freshness.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.freshness.document_id is 'documentId, for documents and annotations.';
comment on column reporting.freshness.annotation_id is 'annotationId, for annotations.';
comment on column reporting.freshness.organization_user_group_id is 'Id of the user group, for user groups.';
comment on column reporting.freshness.checked_at is 'When the last good reading began (our clock); null if there was none.';
comment on column reporting.freshness.age is 'Time since checked_at; null if never checked.';
