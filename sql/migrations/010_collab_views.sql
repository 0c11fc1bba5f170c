-- Up Migration
-- What people query. Views, so that the rows beneath can be narrow; changed later only by adding columns at their end.
-- `raw` is put together from the columns and the members they cannot give back: a text is stored once, not twice.
-- A view has no key that the database knows: its COMMENT ends with it, where `collab-sync dictionary` finds it.
create schema collab;
comment on schema collab is 'What the service said, as of the last check. Start with schema reporting for ready answers.';

create view collab.organizations as
select x.organization_id, x.active,
  collab_store.last_good_check(x.own_checked_at, b.checked_at) as checked_at,
  x.failing_since,
  collab_store.is_stale(collab_store.last_good_check(x.own_checked_at, b.checked_at), x.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  x.active as in_catalog, x.name
from collab_store.organizations x
left join collab_store.batches b
  on b.organization_key = x.organization_key and b.operation = 'users' and b.batch_no = 0;
comment on view collab.organizations is 'Organizations of the catalog. Key: organization_id.';
comment on column collab.organizations.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column collab.organizations.active is 'False when the catalog no longer lists it: it is then not checked any more, and its rows stay.';
comment on column collab.organizations.checked_at is 'When the last good reading of the organizations own listing of users began; null if there was none.';
comment on column collab.organizations.failing_since is 'When a try for its own listing first failed after the last good one (our clock); null where the last try was good.';
comment on column collab.organizations.is_stale is 'True where its own listing may be out of date: its last try failed, it was never checked well, or longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.organizations.in_catalog is 'True while the catalog lists it: only then is it checked.';
comment on column collab.organizations.name is 'Name for people, organizationName of the catalog lines; null where none was given.';

create view collab.user_groups as
select o.organization_id, x.organization_user_group_id, x.active,
  collab_store.last_good_check(x.own_checked_at, b.checked_at) as checked_at,
  x.failing_since,
  collab_store.is_stale(collab_store.last_good_check(x.own_checked_at, b.checked_at), x.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  x.active and o.active as in_catalog, x.name
from collab_store.user_groups x
join collab_store.organizations o using (organization_key)
join collab_store.batches b using (batch_key);
comment on view collab.user_groups is 'Organization user groups of the catalog. Key: organization_id, organization_user_group_id.';
comment on column collab.user_groups.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column collab.user_groups.organization_user_group_id is 'Id of the organization user group that was asked for.';
comment on column collab.user_groups.active is 'False when the catalog no longer lists it: it is then not checked any more, and its rows stay.';
comment on column collab.user_groups.checked_at is 'When the last good reading of the group''s listing began; null if there was none.';
comment on column collab.user_groups.failing_since is 'When a try for its listing first failed after the last good one (our clock); null where the last try was good.';
comment on column collab.user_groups.is_stale is 'True where its listing may be out of date: its last try failed, it was never checked well, or longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.user_groups.in_catalog is 'True while the catalog lists it and its organization: only then is it checked.';
comment on column collab.user_groups.name is 'Name for people, organizationUserGroupName of the catalog lines; null where none was given.';

create view collab.documents as
select o.organization_id, x.document_id, x.active,
  collab_store.last_good_check(x.own_checked_at, b.checked_at) as checked_at,
  x.failing_since,
  collab_store.is_stale(collab_store.last_good_check(x.own_checked_at, b.checked_at), x.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  x.active and o.active as in_catalog, x.name
from collab_store.documents x
join collab_store.organizations o using (organization_key)
join collab_store.batches b using (batch_key);
comment on view collab.documents is 'Documents of the catalog. Key: organization_id, document_id.';
comment on column collab.documents.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column collab.documents.document_id is 'documentId of the service: the document that was asked for.';
comment on column collab.documents.active is 'False when the catalog no longer lists it: it is then not checked any more, and its rows stay.';
comment on column collab.documents.checked_at is 'When the last good reading of the document''s listing of users began; null if there was none. Its comments have their times in collab.annotations.';
comment on column collab.documents.failing_since is 'When a try for its listing of users first failed after the last good one (our clock); null where the last try was good.';
comment on column collab.documents.is_stale is 'True where its listing of users may be out of date: its last try failed, it was never checked well, or longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.documents.in_catalog is 'True while the catalog lists it and its organization: only then is it checked.';
comment on column collab.documents.name is 'Name for people, documentName of the catalog lines; null where none was given.';

create view collab.annotations as
select o.organization_id, d.document_id, x.annotation_id, x.active, x.comment_count,
  collab_store.last_good_check(x.own_checked_at, b.checked_at) as checked_at,
  x.changed_at,
  x.failing_since,
  collab_store.is_stale(collab_store.last_good_check(x.own_checked_at, b.checked_at), x.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  x.active and d.active and o.active as in_catalog
from collab_store.annotations x
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key)
join collab_store.batches b on b.batch_key = x.batch_key;
comment on view collab.annotations is 'Comment annotations of the catalog: each holds a thread of comments. Key: organization_id, document_id, annotation_id.';
comment on column collab.annotations.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column collab.annotations.document_id is 'documentId of the service: the document that was asked for.';
comment on column collab.annotations.annotation_id is 'annotationId of the service: the comment annotation that was asked for.';
comment on column collab.annotations.active is 'False when the catalog no longer lists it: it is then not checked any more, and its rows stay.';
comment on column collab.annotations.comment_count is 'Live comments it holds, as of checked_at.';
comment on column collab.annotations.checked_at is 'When the last good reading of its comments began; null if there was none.';
comment on column collab.annotations.changed_at is 'When a check last found any of its comments added, changed, deleted or restored (our clock).';
comment on column collab.annotations.failing_since is 'When a try for its comments first failed after the last good one (our clock); null where the last try was good.';
comment on column collab.annotations.is_stale is 'True where its comments may be out of date: its last try failed, it was never checked well, or longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.annotations.in_catalog is 'True while the catalog lists it with its document and organization: only then is it checked.';

-- A clock and a mark for each row that lacked them: when what it stands on was last checked well, whether that may be out of
-- date, and whether it is still checked. Rows have them from their scope, totals from the scopes of their organization.
-- Joined from outside, so that the batches leave the plan where nobody asks for them.
create view collab.users as
select o.organization_id, u.user_id, u.name, u.email,
  jsonb_strip_nulls(jsonb_build_object('userId', u.user_id, 'name', u.name, 'email', u.email))
    || coalesce(u.rest, '{}') as raw,
  u.listed, u.first_seen_at, u.changed_at, u.removed_at, u.person,
  collab_store.last_good_check(o.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(o.own_checked_at, b.checked_at), o.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  u.listed and o.active as in_catalog, r.removal_held_since, r.removal_refused_at
from collab_store.users u
join collab_store.organizations o using (organization_key)
left join collab_store.batches b
  on b.organization_key = o.organization_key and b.operation = 'users' and b.batch_no = 0
left join collab_store.disputed_organization_users r on r.organization_key = u.organization_key and r.user_id = u.user_id;
comment on view collab.users is 'One row a person and organization: listed members, and people seen only in a document, a group or as authors. Key: organization_id, user_id.';
comment on column collab.users.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column collab.users.user_id is 'userId of the service.';
comment on column collab.users.name is 'Name as last received; null where the service left it out.';
comment on column collab.users.email is 'E-mail address as last received; null where the service left it out.';
comment on column collab.users.raw is 'The whole object as last received, unknown members included.';
comment on column collab.users.listed is 'True while the organization''s own listing holds the user.';
comment on column collab.users.first_seen_at is 'When a check first saw the person in this organization (our clock).';
comment on column collab.users.changed_at is 'When a check last found anything in this row changed (our clock).';
comment on column collab.users.removed_at is 'When the organization''s listing first lacked one who had been in it; null while listed, and for those never listed.';
comment on column collab.users.person is 'Keyed hash of user_id, by which the feed of changes names people, also once they were erased. Equal in all organizations.';
comment on column collab.users.checked_at is 'When the last good reading of the organization''s own listing began (our clock); null if there was none.';
comment on column collab.users.is_stale is 'True where the organization''s own listing may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.users.in_catalog is 'True while the catalog lists the organization and its own listing the person: only then is the row checked.';
comment on column collab.users.removal_held_since is 'Since when the removal of the user from the organization''s own listing has been held for a decision (our clock): the last response did not contain the user. It starts again when the response changes. Null where no removal is held.';
comment on column collab.users.removal_refused_at is 'When an operator refused to remove the user from the organization''s own listing (our clock): the user stays in the listing until the response changes. Null where no removal was refused.';

create view collab.user_versions as
select o.organization_id, v.user_id, v.version, v.name, v.email, v.listed, v.removed_at, v.change, v.valid_from, v.valid_to,
  collab_store.last_good_check(o.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(o.own_checked_at, b.checked_at), o.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
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
left join collab_store.batches b
  on b.organization_key = o.organization_key and b.operation = 'users' and b.batch_no = 0;
comment on view collab.user_versions is 'Every version of every person that is kept, the current one too (valid_to is null): name, e-mail, listing. What was before the first of them is not known. Key: organization_id, user_id, version.';
comment on column collab.user_versions.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column collab.user_versions.user_id is 'userId of the service.';
comment on column collab.user_versions.version is 'Counts from 1 within the person; the first ones are missing where they were pruned, and where changes were not kept yet.';
comment on column collab.user_versions.name is 'Name in this version; null where the service left it out.';
comment on column collab.user_versions.email is 'E-mail address in this version; null where the service left it out, and where PRIVACY_EMAIL no longer keeps it.';
comment on column collab.user_versions.listed is 'Whether the organization''s own listing held the person.';
comment on column collab.user_versions.removed_at is 'Since when the organization''s listing lacked one who had been in it; null while listed, and for those not listed until then.';
comment on column collab.user_versions.change is 'What made this version: added, edited (another name or address), listed (first time in the organization''s listing), removed (from it), restored (to it). Null where that is not known.';
comment on column collab.user_versions.valid_from is 'When a check first saw this version (our clock); it came to be between that check and the one before.';
comment on column collab.user_versions.valid_to is 'When a check first saw the next version; null for the current one.';
comment on column collab.user_versions.checked_at is 'As in collab.users.';
comment on column collab.user_versions.is_stale is 'As in collab.users: there may be a newer version that no check has seen.';
comment on column collab.user_versions.in_catalog is 'As in collab.users.';

create view collab.document_users as
select o.organization_id, d.document_id, m.user_id, m.first_seen_at, m.removed_at,
  collab_store.last_good_check(d.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(d.own_checked_at, b.checked_at), d.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  d.active and o.active as in_catalog, r.removal_held_since, r.removal_refused_at
from collab_store.document_users m
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key)
left join collab_store.batches b on b.batch_key = d.batch_key
left join collab_store.disputed_document_users r on r.document_key = m.document_key and r.user_id = m.user_id;
comment on view collab.document_users is 'Who is, or was, in a document. Key: organization_id, document_id, user_id.';
comment on column collab.document_users.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column collab.document_users.document_id is 'documentId of the service: the document that was asked for.';
comment on column collab.document_users.user_id is 'userId of the member.';
comment on column collab.document_users.first_seen_at is 'When a check first saw the user in the document (our clock).';
comment on column collab.document_users.removed_at is 'When a check first found the user gone; null while in it.';
comment on column collab.document_users.checked_at is 'When the last good reading of the document''s listing of users began (our clock); null if there was none.';
comment on column collab.document_users.is_stale is 'True where that listing may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.document_users.in_catalog is 'True while the catalog lists the document: only then is it checked.';
comment on column collab.document_users.removal_held_since is 'Since when the removal of the user from the document''s listing has been held for a decision (our clock): the last response did not contain the user. It starts again when the response changes. Null where no removal is held.';
comment on column collab.document_users.removal_refused_at is 'When an operator refused to remove the user from the document''s listing (our clock): the user stays in the listing until the response changes. Null where no removal was refused.';

create view collab.user_group_members as
select o.organization_id, g.organization_user_group_id, m.user_id, m.first_seen_at, m.removed_at,
  collab_store.last_good_check(g.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(g.own_checked_at, b.checked_at), g.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  g.active and o.active as in_catalog, r.removal_held_since, r.removal_refused_at
from collab_store.user_group_members m
join collab_store.user_groups g using (user_group_key)
join collab_store.organizations o using (organization_key)
left join collab_store.batches b on b.batch_key = g.batch_key
left join collab_store.disputed_user_group_members r on r.user_group_key = m.user_group_key and r.user_id = m.user_id;
comment on view collab.user_group_members is 'Who is, or was, in an organization user group. Key: organization_id, organization_user_group_id, user_id.';
comment on column collab.user_group_members.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column collab.user_group_members.organization_user_group_id is 'Id of the organization user group that was asked for.';
comment on column collab.user_group_members.user_id is 'userId of the member.';
comment on column collab.user_group_members.first_seen_at is 'When a check first saw the user in the group (our clock).';
comment on column collab.user_group_members.removed_at is 'When a check first found the user gone; null while in it.';
comment on column collab.user_group_members.checked_at is 'When the last good reading of the group''s listing of users began (our clock); null if there was none.';
comment on column collab.user_group_members.is_stale is 'True where that listing may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.user_group_members.in_catalog is 'True while the catalog lists the group: only then is it checked.';
comment on column collab.user_group_members.removal_held_since is 'Since when the removal of the user from the group''s listing has been held for a decision (our clock): the last response did not contain the user. It starts again when the response changes. Null where no removal is held.';
comment on column collab.user_group_members.removal_refused_at is 'When an operator refused to remove the user from the group''s listing (our clock): the user stays in the listing until the response changes. Null where no removal was refused.';

-- Joined in the place of annotations: PostgreSQL leaves it, or the batches in it, out of a plan that needs nothing of them.
create view collab_store.checked_annotations as
select x.annotation_key, x.document_key, x.annotation_id, x.active, x.comment_count, x.authors, x.changed_at,
  x.first_comment_at, x.last_comment_at, x.first_answer_at,
  greatest(collab_store.last_good_check(x.own_checked_at, b.checked_at),
    (select w.swept_at from collab_store.swept_threads w where w.annotation_key = x.annotation_key)) as checked_at,
  collab_store.is_stale(greatest(collab_store.last_good_check(x.own_checked_at, b.checked_at),
    (select w.swept_at from collab_store.swept_threads w where w.annotation_key = x.annotation_key)), x.failing_since,
    (select stale_before from collab_store.promise)) as is_stale
from collab_store.annotations x
left join collab_store.batches b using (batch_key);
comment on view collab_store.checked_annotations is 'Annotations with their last good check, passes of refresh included: what the rows of their comments have in checked_at and is_stale.';
comment on column collab_store.checked_annotations.annotation_key is 'As in annotations.';
comment on column collab_store.checked_annotations.document_key is 'As in annotations.';
comment on column collab_store.checked_annotations.annotation_id is 'As in annotations.';
comment on column collab_store.checked_annotations.active is 'As in annotations.';
comment on column collab_store.checked_annotations.comment_count is 'As in annotations.';
comment on column collab_store.checked_annotations.authors is 'As in annotations.';
comment on column collab_store.checked_annotations.changed_at is 'As in annotations.';
comment on column collab_store.checked_annotations.first_comment_at is 'As in annotations.';
comment on column collab_store.checked_annotations.last_comment_at is 'As in annotations.';
comment on column collab_store.checked_annotations.first_answer_at is 'As in annotations.';
comment on column collab_store.checked_annotations.checked_at is 'When the last good check of its comments began; null if there was none.';
comment on column collab_store.checked_annotations.is_stale is 'As in collab.comments.';

-- Rows beneath a thread carry its marks.
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
comment on view collab.comments is 'Comments as of the last check, deleted ones too (see deleted_at). Key: organization_id, document_id, annotation_id, comment_id.';
comment on column collab.comments.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column collab.comments.document_id is 'documentId of the service: the document that was asked for.';
comment on column collab.comments.annotation_id is 'annotationId of the service: the comment annotation that was asked for.';
comment on column collab.comments.comment_id is 'commentId of the service, unique within its annotation.';
comment on column collab.comments.comment_text is 'Plain text; null where the service left it out, as in a voice comment.';
comment on column collab.comments.comment_html is 'HTML body as received. It comes from users: never show it unescaped.';
comment on column collab.comments.author_user_id is 'userId of the author, as received with the comment.';
comment on column collab.comments.author_name is 'Name of the author as it was when the comment was received; reporting.comments has the current one.';
comment on column collab.comments.author_email is 'E-mail address of the author, as received with the comment.';
comment on column collab.comments.status is 'Status as received, such as added; the service does not document its set of values.';
comment on column collab.comments.type is 'Type as received, such as text; the service does not document its set of values.';
comment on column collab.comments.last_updated is 'lastUpdated of the service (the service''s clock).';
comment on column collab.comments.raw is 'The whole object as last received, unknown members included.';
comment on column collab.comments.first_seen_at is 'When a check first saw the comment (our clock).';
comment on column collab.comments.changed_at is 'When a check last found anything in this row changed, its deletion included (our clock): follow it to load what is new.';
comment on column collab.comments.deleted_at is 'When the service answered null for this comment''s id; null while it is live. The row keeps its last content.';
comment on column collab.comments.checked_at is 'When the last good reading of the comments of its annotation began (our clock); null if there was none.';
comment on column collab.comments.is_stale is 'True where the comments of its annotation may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.comments.in_catalog is 'True while the catalog lists its annotation: only then is it checked.';
comment on column collab.comments.written_at is 'When the comment was written (the service''s clock): what the member named by COMMENT_WRITTEN_MEMBER says; without it lastUpdated of the first version that a check saw, which is later where it was edited before. Null where the service told neither.';
comment on column collab.comments.written_at_is_exact is 'True where the comment itself says when it was written (COMMENT_WRITTEN_MEMBER); false where it may have been earlier than written_at.';
comment on column collab.comments.written_not_before is 'When the last good check of the thread before the first look at the comment began (our clock): it was written later. Null where written_at is exact, at the thread''s first look, and where that check may have missed the comment.';

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
comment on view collab.comment_versions is 'Every version of every comment, the current one too (valid_to is null). Key: organization_id, document_id, annotation_id, comment_id, version.';
comment on column collab.comment_versions.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column collab.comment_versions.document_id is 'documentId of the service: the document that was asked for.';
comment on column collab.comment_versions.annotation_id is 'annotationId of the service: the comment annotation that was asked for.';
comment on column collab.comment_versions.comment_id is 'commentId of the service, unique within its annotation.';
comment on column collab.comment_versions.version is 'Counts from 1 within the comment.';
comment on column collab.comment_versions.comment_text is 'Plain text; null where the service left it out, as in a voice comment.';
comment on column collab.comment_versions.comment_html is 'HTML body as received. It comes from users: never show it unescaped.';
comment on column collab.comment_versions.status is 'Status as received, such as added; the service does not document its set of values.';
comment on column collab.comment_versions.type is 'Type as received, such as text; the service does not document its set of values.';
comment on column collab.comment_versions.last_updated is 'lastUpdated of the service (the service''s clock).';
comment on column collab.comment_versions.change is 'What made this version: added, edited, deleted or restored. A deleted version repeats the last content.';
comment on column collab.comment_versions.valid_from is 'When a check first saw this version (our clock); the true time lies between that check and the one before.';
comment on column collab.comment_versions.valid_to is 'When a check first saw the next version; null for the current one.';
comment on column collab.comment_versions.checked_at is 'When the last good reading of the comments of its annotation began (our clock); null if there was none.';
comment on column collab.comment_versions.is_stale is 'True where the comments of its annotation may be out of date: there may be a newer version that no check has seen.';
comment on column collab.comment_versions.in_catalog is 'True while the catalog lists its annotation: only then is it checked.';
