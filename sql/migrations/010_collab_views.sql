-- The views that users query. The tables beneath them can then have narrow keys. Change a view only by adding columns
-- at its end.
-- `raw` is assembled from the columns and from `rest`, the fields that the columns cannot reproduce, so that each
-- text is stored once.
-- PostgreSQL knows no key of a view, so each COMMENT ends with it. `collab-sync dictionary` reads it there.
create schema collab;
comment on schema collab is 'The service''s data as of the last check. Schema reporting has ready-made queries, and its comment explains times, checked_at, is_stale and in_catalog.';

create view collab.organizations as
select x.organization_id, x.active,
  l.checked_at, l.failing_since, l.is_stale,
  x.active as in_catalog, x.name
from collab_store.organizations x
left join collab_store.checked_listings l on l.kind = 'organization' and l.scope_key = x.organization_key and l.operation = 'users';
comment on view collab.organizations is 'Organizations of the catalog. Key: organization_id.';
comment on column collab.organizations.organization_id is 'The service''s organizationId.';
comment on column collab.organizations.active is 'False once the catalog no longer lists it; its rows are kept.';
comment on column collab.organizations.checked_at is 'Last successful check of its own user listing; null if none.';
comment on column collab.organizations.failing_since is 'First failed check since the last successful one; null if none failed.';
comment on column collab.organizations.is_stale is 'True if its own user listing may be out of date.';
comment on column collab.organizations.in_catalog is 'Same as active.';
comment on column collab.organizations.name is 'Display name from the catalog (organizationName); null if none was given.';

create view collab.user_groups as
select o.organization_id, x.organization_user_group_id, x.active,
  l.checked_at, l.failing_since, l.is_stale,
  x.active and o.active as in_catalog, x.name
from collab_store.user_groups x
join collab_store.organizations o using (organization_key)
left join collab_store.checked_listings l on l.kind = 'group' and l.scope_key = x.user_group_key and l.operation = 'users';
comment on view collab.user_groups is 'Organization user groups of the catalog. Key: organization_id, organization_user_group_id.';
comment on column collab.user_groups.organization_id is 'The service''s organizationId.';
comment on column collab.user_groups.organization_user_group_id is 'The service''s ID of the organization user group.';
comment on column collab.user_groups.active is 'False once the catalog no longer lists it; its rows are kept.';
comment on column collab.user_groups.checked_at is 'Last successful check of the group''s user listing; null if none.';
comment on column collab.user_groups.failing_since is 'First failed check since the last successful one; null if none failed.';
comment on column collab.user_groups.is_stale is 'True if its user listing may be out of date.';
comment on column collab.user_groups.in_catalog is 'Whether the catalog lists it and its organization.';
comment on column collab.user_groups.name is 'Display name from the catalog (organizationUserGroupName); null if none was given.';

create view collab.documents as
select o.organization_id, x.document_id, x.active,
  l.checked_at, l.failing_since, l.is_stale,
  x.active and o.active as in_catalog, x.name
from collab_store.documents x
join collab_store.organizations o using (organization_key)
left join collab_store.checked_listings l on l.kind = 'document' and l.scope_key = x.document_key and l.operation = 'users';
comment on view collab.documents is 'Documents of the catalog. Key: organization_id, document_id.';
comment on column collab.documents.organization_id is 'The service''s organizationId.';
comment on column collab.documents.document_id is 'The service''s documentId.';
comment on column collab.documents.active is 'False once the catalog no longer lists it; its rows are kept.';
comment on column collab.documents.checked_at is 'Last successful check of its user listing; null if none.';
comment on column collab.documents.failing_since is 'First failed check since the last successful one; null if none failed.';
comment on column collab.documents.is_stale is 'True if its user listing may be out of date.';
comment on column collab.documents.in_catalog is 'Whether the catalog lists it and its organization.';
comment on column collab.documents.name is 'Display name from the catalog (documentName); null if none was given.';

-- Joined instead of annotations. PostgreSQL drops it, or the batches and recent threads in it, from plans that do not
-- need them. Recent threads are joined so that the passes are looked up only for them: a lookup for every annotation is
-- most of the time of a report on all. For the same reason, is_stale looks at passes only where the batch is late.
create view collab_store.checked_annotations as
select x.annotation_key, x.document_key, x.annotation_id, x.active, x.comment_count, x.authors, x.changed_at,
  x.failing_since, x.first_comment_at, x.last_comment_at, x.first_answer_at,
  greatest(collab_store.last_good_check(x.own_checked_at, b.checked_at), case when h.annotation_key is not null
    then (select w.pass_started_at from collab_store.pass_checks w where w.annotation_key = h.annotation_key) end) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(x.own_checked_at, b.checked_at), x.failing_since,
    (select stale_before from collab_store.promise))
    and (h.annotation_key is null or not exists (select from collab_store.pass_checks w
      where w.annotation_key = h.annotation_key and w.pass_started_at >= (select stale_before from collab_store.promise))) as is_stale
from collab_store.annotations x
left join collab_store.batches b using (batch_key)
left join collab_store.recent_threads h using (annotation_key);
comment on view collab_store.checked_annotations is 'Annotations with their last successful check, including passes of continuous refresh. All views of annotations and comments take checked_at and is_stale from it.';
comment on column collab_store.checked_annotations.annotation_key is 'As in annotations.';
comment on column collab_store.checked_annotations.document_key is 'As in annotations.';
comment on column collab_store.checked_annotations.annotation_id is 'As in annotations.';
comment on column collab_store.checked_annotations.active is 'As in annotations.';
comment on column collab_store.checked_annotations.comment_count is 'As in annotations.';
comment on column collab_store.checked_annotations.authors is 'As in annotations.';
comment on column collab_store.checked_annotations.changed_at is 'As in annotations.';
comment on column collab_store.checked_annotations.failing_since is 'As in annotations.';
comment on column collab_store.checked_annotations.first_comment_at is 'As in annotations.';
comment on column collab_store.checked_annotations.last_comment_at is 'As in annotations.';
comment on column collab_store.checked_annotations.first_answer_at is 'As in annotations.';
comment on column collab_store.checked_annotations.checked_at is 'Last successful check of its comments; null if none.';
comment on column collab_store.checked_annotations.is_stale is 'As in collab.comments.';

create view collab.annotations as
select o.organization_id, d.document_id, x.annotation_id, x.active, x.comment_count, x.checked_at, x.changed_at, x.failing_since,
  x.is_stale, x.active and d.active and o.active as in_catalog
from collab_store.checked_annotations x
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key);
comment on view collab.annotations is 'Comment annotations of the catalog. Each has one thread of comments. Key: organization_id, document_id, annotation_id.';
comment on column collab.annotations.organization_id is 'The service''s organizationId.';
comment on column collab.annotations.document_id is 'The service''s documentId.';
comment on column collab.annotations.annotation_id is 'The service''s annotationId.';
comment on column collab.annotations.active is 'False once the catalog no longer lists it; its rows are kept.';
comment on column collab.annotations.comment_count is 'Live comments, as of checked_at.';
comment on column collab.annotations.checked_at is 'Last successful check of its comments; null if none.';
comment on column collab.annotations.changed_at is 'When a check last found one of its comments added, changed, deleted or restored.';
comment on column collab.annotations.failing_since is 'First failed check since the last successful one; null if none failed.';
comment on column collab.annotations.is_stale is 'True if its comments may be out of date.';
comment on column collab.annotations.in_catalog is 'Whether the catalog lists it, its document and its organization.';

-- Each row shows when its source was last checked successfully, whether it may be out of date, and whether it is
-- still checked. Rows take this from their scope, totals from the scopes of their organization.
create view collab.users as
select o.organization_id, u.user_id, u.name, u.email,
  jsonb_strip_nulls(jsonb_build_object('userId', u.user_id, 'name', u.name, 'email', u.email))
    || coalesce(u.rest, '{}') as raw,
  u.listed, u.first_seen_at, u.changed_at, u.removed_at, u.person,
  l.checked_at, l.is_stale,
  u.listed and o.active as in_catalog, r.removal_held_since, r.removal_refused_at
from collab_store.users u
join collab_store.organizations o using (organization_key)
left join collab_store.checked_listings l on l.kind = 'organization' and l.scope_key = o.organization_key and l.operation = 'users'
left join collab_store.disputed_organization_users r on r.organization_key = u.organization_key and r.user_id = u.user_id;
comment on view collab.users is 'One row per user and organization, including users seen only in a document, in a user group or as authors. Key: organization_id, user_id.';
comment on column collab.users.organization_id is 'The service''s organizationId.';
comment on column collab.users.user_id is 'The service''s userId.';
comment on column collab.users.name is 'Name as last received; null if the service sent none.';
comment on column collab.users.email is 'E-mail address as last received; null if the service sent none.';
comment on column collab.users.raw is 'The complete JSON object as last received, unknown fields included.';
comment on column collab.users.listed is 'Whether the organization''s own listing contains the user.';
comment on column collab.users.first_seen_at is 'When collab-sync first received the user in this organization.';
comment on column collab.users.changed_at is 'When a check last changed this row.';
comment on column collab.users.removed_at is 'When the organization''s listing first no longer contained the user; null while or never listed.';
comment on column collab.users.person is 'Keyed hash of user_id, which identifies the user in the feed of changes, even after an erasure. Equal in all organizations.';
comment on column collab.users.checked_at is 'Last successful check of the organization''s own listing; null if none.';
comment on column collab.users.is_stale is 'True if the organization''s own listing may be out of date.';
comment on column collab.users.in_catalog is 'Whether the catalog lists the organization, and its own listing the user.';
comment on column collab.users.removal_held_since is 'Since when the removal from the organization''s own listing has been pending approval; null if none is. A changed response restarts it.';
comment on column collab.users.removal_refused_at is 'When an operator refused this removal; null if none did. The user stays until the response changes.';

create view collab.user_versions as
select o.organization_id, v.user_id, v.version, v.name, v.email, v.listed, v.removed_at, v.change, v.valid_from, v.valid_to,
  l.checked_at, l.is_stale,
  u.listed and o.active as in_catalog
from (
  select organization_key, user_id, version, name, email, listed, removed_at, change, valid_from, valid_to
  from collab_store.user_versions
  union all
  select organization_key, user_id, coalesce(version, 1), name, email, listed, removed_at,
    case when version is null then 'added' else change end, coalesce(version_at, first_seen_at), null
  from collab_store.users
) v
join collab_store.organizations o using (organization_key)
left join collab_store.users u on u.organization_key = v.organization_key and u.user_id = v.user_id
left join collab_store.checked_listings l on l.kind = 'organization' and l.scope_key = o.organization_key and l.operation = 'users';
comment on view collab.user_versions is 'All stored versions of users (name, e-mail address, listing), including the current one. Key: organization_id, user_id, version.';
comment on column collab.user_versions.organization_id is 'The service''s organizationId.';
comment on column collab.user_versions.user_id is 'The service''s userId.';
comment on column collab.user_versions.version is 'Version number of the user, from 1. Early versions are missing if they were pruned or not recorded.';
comment on column collab.user_versions.name is 'Name in this version; null if the service sent none.';
comment on column collab.user_versions.email is 'E-mail address in this version; null if none was sent or PRIVACY_EMAIL excludes it.';
comment on column collab.user_versions.listed is 'Whether the organization''s own listing contained the user.';
comment on column collab.user_versions.removed_at is 'removed_at of collab.users in this version.';
comment on column collab.user_versions.change is 'What created this version: added, edited (name or address), listed (first time in the organization''s listing), removed (from it) or restored (to it). Null if unknown.';
comment on column collab.user_versions.valid_from is 'When a check first received this version.';
comment on column collab.user_versions.valid_to is 'When a check first received the next version; null for the current one.';
comment on column collab.user_versions.checked_at is 'As in collab.users.';
comment on column collab.user_versions.is_stale is 'As in collab.users.';
comment on column collab.user_versions.in_catalog is 'As in collab.users.';

create view collab.document_users as
select o.organization_id, d.document_id, m.user_id, m.first_seen_at, m.removed_at,
  l.checked_at, l.is_stale,
  d.active and o.active as in_catalog, r.removal_held_since, r.removal_refused_at
from collab_store.document_users m
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key)
left join collab_store.checked_listings l on l.kind = 'document' and l.scope_key = m.document_key and l.operation = 'users'
left join collab_store.disputed_document_users r on r.document_key = m.document_key and r.user_id = m.user_id;
comment on view collab.document_users is 'Current and past users of documents. Key: organization_id, document_id, user_id.';
comment on column collab.document_users.organization_id is 'The service''s organizationId.';
comment on column collab.document_users.document_id is 'The service''s documentId.';
comment on column collab.document_users.user_id is 'The service''s userId of the member.';
comment on column collab.document_users.first_seen_at is 'When a check first found the user in the document.';
comment on column collab.document_users.removed_at is 'When a check first no longer found the user; null for current members.';
comment on column collab.document_users.checked_at is 'Last successful check of the document''s user listing; null if none.';
comment on column collab.document_users.is_stale is 'True if that listing may be out of date.';
comment on column collab.document_users.in_catalog is 'Whether the catalog lists the document.';
comment on column collab.document_users.removal_held_since is 'As in collab.users. Here the listing is that of the document.';
comment on column collab.document_users.removal_refused_at is 'As in collab.users. Here the listing is that of the document.';

create view collab.user_group_members as
select o.organization_id, g.organization_user_group_id, m.user_id, m.first_seen_at, m.removed_at,
  l.checked_at, l.is_stale,
  g.active and o.active as in_catalog, r.removal_held_since, r.removal_refused_at
from collab_store.user_group_members m
join collab_store.user_groups g using (user_group_key)
join collab_store.organizations o using (organization_key)
left join collab_store.checked_listings l on l.kind = 'group' and l.scope_key = m.user_group_key and l.operation = 'users'
left join collab_store.disputed_user_group_members r on r.user_group_key = m.user_group_key and r.user_id = m.user_id;
comment on view collab.user_group_members is 'Current and past members of organization user groups. Key: organization_id, organization_user_group_id, user_id.';
comment on column collab.user_group_members.organization_id is 'The service''s organizationId.';
comment on column collab.user_group_members.organization_user_group_id is 'Id of the organization user group that was requested.';
comment on column collab.user_group_members.user_id is 'The service''s userId of the member.';
comment on column collab.user_group_members.first_seen_at is 'When a check first found the user in the group.';
comment on column collab.user_group_members.removed_at is 'When a check first no longer found the user; null for current members.';
comment on column collab.user_group_members.checked_at is 'Last successful check of the group''s user listing; null if none.';
comment on column collab.user_group_members.is_stale is 'True if that listing may be out of date.';
comment on column collab.user_group_members.in_catalog is 'Whether the catalog lists the group.';
comment on column collab.user_group_members.removal_held_since is 'As in collab.users. Here the listing is that of the user group.';
comment on column collab.user_group_members.removal_refused_at is 'As in collab.users. Here the listing is that of the user group.';

-- Rows of a thread have the check and staleness of their annotation.
create view collab.comments as
select o.organization_id, d.document_id, a.annotation_id, c.comment_id,
  c.comment_text, c.comment_html, c.author_user_id, c.author_name, c.author_email,
  c.status, c.type, c.last_updated,
  jsonb_strip_nulls(jsonb_build_object(
    'commentId', c.comment_id, 'commentText', c.comment_text, 'commentHtml', c.comment_html,
    'from', case when c.author_user_id is not null or c.author_name is not null or c.author_email is not null
      then jsonb_build_object('userId', c.author_user_id, 'name', c.author_name, 'email', c.author_email) end,
    'lastUpdated', to_char(c.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'status', c.status, 'type', c.type)) || coalesce(c.rest, '{}') as raw,
  c.first_seen_at, c.changed_at, c.deleted_at,
  a.checked_at, a.is_stale, a.active and d.active and o.active as in_catalog,
  collab_store.written_at(c.written_at, c.first_updated, c.last_updated) as written_at,
  c.written_at is not null as written_at_is_exact,
  case when c.written_at is null then c.not_before end as written_not_before
from collab_store.comments c
join collab_store.checked_annotations a using (annotation_key)
join collab_store.documents d using (document_key)
join collab_store.organizations o on o.organization_key = d.organization_key;
comment on view collab.comments is 'Comments as of the last check, including deleted ones, which keep their last content. Key: organization_id, document_id, annotation_id, comment_id.';
comment on column collab.comments.organization_id is 'The service''s organizationId.';
comment on column collab.comments.document_id is 'The service''s documentId.';
comment on column collab.comments.annotation_id is 'The service''s annotationId.';
comment on column collab.comments.comment_id is 'The service''s commentId, unique within its annotation.';
comment on column collab.comments.comment_text is 'Plain text; null if the service sent none, as for a voice comment.';
comment on column collab.comments.comment_html is 'HTML body as received. It is user input: always escape it.';
comment on column collab.comments.author_user_id is 'The author''s userId, as received with the comment.';
comment on column collab.comments.author_name is 'The author''s name, as received with the comment. reporting.comments has the current one.';
comment on column collab.comments.author_email is 'The author''s e-mail address, as received with the comment.';
comment on column collab.comments.status is 'Status as received, such as added. The possible values are undocumented.';
comment on column collab.comments.type is 'Type as received, such as text. The possible values are undocumented.';
comment on column collab.comments.last_updated is 'The service''s lastUpdated (the service''s clock).';
comment on column collab.comments.raw is 'The complete JSON object as last received, unknown fields included.';
comment on column collab.comments.first_seen_at is 'When collab-sync first received the comment.';
comment on column collab.comments.changed_at is 'When a check last changed this row, including deletion.';
comment on column collab.comments.deleted_at is 'When the service returned null for the comment''s ID; null while it is live.';
comment on column collab.comments.checked_at is 'Last successful check of the annotation''s comments; null if none.';
comment on column collab.comments.is_stale is 'True if the annotation''s comments may be out of date.';
comment on column collab.comments.in_catalog is 'Whether the catalog lists the annotation.';
comment on column collab.comments.written_at is 'As in reporting.comments.';
comment on column collab.comments.written_at_is_exact is 'As in reporting.comments.';
comment on column collab.comments.written_not_before is 'As in reporting.comments.';

create view collab.comment_versions as
select o.organization_id, d.document_id, a.annotation_id, v.comment_id, v.version,
  v.comment_text, v.comment_html, v.status, v.type, v.last_updated, v.change, v.valid_from, v.valid_to,
  a.checked_at, a.is_stale, a.active and d.active and o.active as in_catalog
from (
  select annotation_key, comment_id, version, comment_text, comment_html, status, type, last_updated,
    change, valid_from, valid_to
  from collab_store.comment_versions
  union all
  select annotation_key, comment_id, version, comment_text, comment_html, status, type, last_updated,
    change, version_at, null
  from collab_store.comments
) v
join collab_store.checked_annotations a using (annotation_key)
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key);
comment on view collab.comment_versions is 'All versions of comments, including the current one. Key: organization_id, document_id, annotation_id, comment_id, version.';
comment on column collab.comment_versions.organization_id is 'The service''s organizationId.';
comment on column collab.comment_versions.document_id is 'The service''s documentId.';
comment on column collab.comment_versions.annotation_id is 'The service''s annotationId.';
comment on column collab.comment_versions.comment_id is 'The service''s commentId, unique within its annotation.';
comment on column collab.comment_versions.version is 'Version number of the comment, from 1.';
comment on column collab.comment_versions.comment_text is 'As in collab.comments.';
comment on column collab.comment_versions.comment_html is 'As in collab.comments.';
comment on column collab.comment_versions.status is 'As in collab.comments.';
comment on column collab.comment_versions.type is 'As in collab.comments.';
comment on column collab.comment_versions.last_updated is 'The service''s lastUpdated (the service''s clock).';
comment on column collab.comment_versions.change is 'What created this version: added, edited, deleted or restored. A deleted version repeats the last content.';
comment on column collab.comment_versions.valid_from is 'When a check first received this version.';
comment on column collab.comment_versions.valid_to is 'When a check first received the next version; null for the current one.';
comment on column collab.comment_versions.checked_at is 'As in collab.comments.';
comment on column collab.comment_versions.is_stale is 'As in collab.comments.';
comment on column collab.comment_versions.in_catalog is 'As in collab.comments.';
