-- Up Migration
-- The analysts' reports. Views run with their owner's rights; functions with the caller's, over those views, so that
-- whoever may read a view may use its function and nobody more.
-- Changed later only by adding columns at the end of views.

-- What threads are asked for most is kept with them, in the transaction that changes their comments: over 5,000,000
-- comments it cannot be computed in time.
alter table collab_store.annotations
  add column first_comment_at timestamptz,
  add column last_comment_at timestamptz,
  add column first_answer_at timestamptz,
  add column authors text[] not null default '{}';
comment on column collab_store.annotations.first_comment_at is 'Earliest time a live comment was written: lastUpdated of its first known version.';
comment on column collab_store.annotations.last_comment_at is 'Latest lastUpdated of a live comment.';
comment on column collab_store.annotations.first_answer_at is 'Earliest time a live comment was written by another author than the first one''s.';
comment on column collab_store.annotations.authors is 'userIds of the authors of live comments, each once, sorted.';

create function collab_store.thread_facts(of_annotation_key integer)
returns table (first_comment_at timestamptz, last_comment_at timestamptz, first_answer_at timestamptz, authors text[])
language sql stable
as $$
  select min(t.written_at), max(t.last_updated), min(t.written_at) filter (where t.author_user_id <> t.first_author),
    coalesce(array_agg(distinct t.author_user_id collate "C") filter (where t.author_user_id is not null), '{}')
  from (
    select c.author_user_id, c.last_updated, w.written_at,
      first_value(c.author_user_id) over (order by w.written_at, c.comment_id) as first_author
    from collab_store.comments c
    -- Most comments have one version: a null number ends the search in the index at once.
    left join collab_store.comment_versions v on v.annotation_key = c.annotation_key and v.comment_id = c.comment_id
      and v.version = case when c.version > 1 then 1 end
    cross join lateral (select coalesce(v.last_updated, c.last_updated) as written_at) w
    where c.annotation_key = of_annotation_key and c.deleted_at is null
  ) t
$$;
comment on function collab_store.thread_facts(integer) is 'What is kept of the live comments of one annotation: first and last comment, first answer by somebody else, authors. For the worker.';

update collab_store.annotations a
set first_comment_at = f.first_comment_at, last_comment_at = f.last_comment_at, first_answer_at = f.first_answer_at, authors = f.authors
from collab_store.annotations b, collab_store.thread_facts(b.annotation_key) f
where b.annotation_key = a.annotation_key and b.comment_count > 0;

-- Narrowing to a month is by the time itself. What the partial ones hold is nothing at a first load, so that they cost it
-- nothing; comments lie in about the order in which checks found them, so that ranges of blocks tell the time of a check.
create index comments_last_updated on collab_store.comments (last_updated);
create index comments_changed on collab_store.comments (version_at) where version > 1;
create index comments_noticed on collab_store.comments using brin (version_at) with (pages_per_range = 64, autosummarize = on);
create index comment_versions_noticed on collab_store.comment_versions using brin (valid_from) with (pages_per_range = 64, autosummarize = on);
create index comment_versions_changed on collab_store.comment_versions (valid_from) where version > 1;
-- Activity by day and week is counted from this index alone (docs/decisions): an organization's, in the order of its days.
-- It is also the way from an organization to all of its comments.
create index comments_activity on collab_store.comments (organization_key, day, author_user_id collate "C", annotation_key)
  include (deleted_at);
-- From a comment to its document without the annotation's digests and authors: every report goes that way.
create index annotations_document on collab_store.annotations (annotation_key) include (document_key);

-- Search. Words as PostgreSQL's own parser finds them, without a language; scripts that write no spaces (and Korean, whose
-- words carry their particles) are split into single characters, which a search then asks for as a phrase.
-- Not pg_trgm: it has no use for the two characters that most Chinese and Japanese words have.
create function reporting.spaced_text(plain_text text) returns text
language sql immutable parallel safe
return case
  when plain_text ~ '[^\u0001-\u024f]' then regexp_replace(translate(plain_text,
    '،؛؟।。、，！？：；（）「」『』《》„“”‘’«»–—…', '                              '),
    '([\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])',
    ' \1 ', 'g')
  else plain_text end;
comment on function reporting.spaced_text(text) is 'The text with a space around every character of the scripts that write none between words, and none of the punctuation that PostgreSQL takes for letters in some locales.';

create function reporting.comment_words(comment_text text) returns tsvector
language sql immutable parallel safe
return to_tsvector('simple', reporting.spaced_text(comment_text));
comment on function reporting.comment_words(text) is 'The searchable words of a text: lower case, no stemming; characters one by one in scripts without spaces. The search index is made of it.';

create function reporting.search_query(query text) returns tsquery
language sql immutable parallel safe
return case
  when query ~ '"' then websearch_to_tsquery('simple', reporting.spaced_text(query))
  else regexp_replace(websearch_to_tsquery('simple', reporting.spaced_text(regexp_replace(query,
      '([\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+)',
      ' "\1" ', 'g')))::text,
    '([^0-9''])''(?= |\)|$)', '\1'':*', 'g')::tsquery -- a number means itself: 3 does not find 30
  end;
comment on function reporting.search_query(text) is 'What search_comments looks for: every word, also as the beginning of a longer one; "in quotes" exactly and in this order; -without; this or that.';

-- No index on the words here: it would make a first load half as long again (docs/decisions), and who never searches, or
-- searches one organization at a time, must not pay for it. `collab-sync migrate --search-index on` makes it beside
-- running syncs; a migration never takes it away.

-- One organization after the other, in the order of comments_activity: nothing is sorted but the few comments of a day,
-- and a narrowing to days is a range of the index in each organization.
create or replace view reporting.comment_activity_daily as
select o.organization_id, n.day, n.comments, n.authors, n.annotations
from collab_store.organizations o
cross join lateral (
  select c.day, count(*) as comments, count(distinct c.author_user_id collate "C") as authors,
    count(distinct c.annotation_key) as annotations
  from collab_store.comments c
  where c.organization_key = o.organization_key and c.deleted_at is null
  group by c.day
) n;

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

-- Each half joined by itself: so a narrowing reaches the rows of both.
create view reporting.comment_history as
select o.organization_id, d.document_id, a.annotation_id, v.comment_id, v.version, v.change,
  c.author_user_id, coalesce(u.name, c.author_name) as author_name, v.comment_text, v.status, v.type, v.last_updated,
  v.valid_from, v.valid_to
from collab_store.comment_versions v
join collab_store.comments c on c.annotation_key = v.annotation_key and c.comment_id = v.comment_id
left join collab_store.annotations a on a.annotation_key = v.annotation_key
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
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id;
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

create view reporting.memberships as
select m.organization_id, m.kind, m.document_id, m.organization_user_group_id, m.user_id, u.name, u.email, m.since, m.until
from (
  select o.organization_key, o.organization_id, 'document' as kind, d.document_id, null::text as organization_user_group_id,
    s.user_id, s.joined_at as since, s.removed_at as until
  from collab_store.document_users s
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  union all
  select o.organization_key, o.organization_id, 'user group', null, g.organization_user_group_id,
    s.user_id, s.joined_at, s.removed_at
  from collab_store.user_group_members s
  join collab_store.user_groups g using (user_group_key)
  join collab_store.organizations o using (organization_key)
  union all
  select o.organization_key, o.organization_id, 'document', d.document_id, null, s.user_id, s.joined_at, s.removed_at
  from collab_store.past_memberships s
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  union all
  select o.organization_key, o.organization_id, 'user group', null, g.organization_user_group_id, s.user_id, s.joined_at, s.removed_at
  from collab_store.past_memberships s
  join collab_store.user_groups g using (user_group_key)
  join collab_store.organizations o using (organization_key)
) m
left join collab_store.users u on u.organization_key = m.organization_key and u.user_id = m.user_id;
comment on view reporting.memberships is 'One row a stay of a person in a document or user group, past ones too. Who is, and was, in what?';
comment on column reporting.memberships.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.memberships.kind is 'What the person is in: document or user group.';
comment on column reporting.memberships.document_id is 'documentId of the document; null for a user group.';
comment on column reporting.memberships.organization_user_group_id is 'Id of the organization user group; null for a document.';
comment on column reporting.memberships.user_id is 'userId of the person.';
comment on column reporting.memberships.name is 'The person''s current name.';
comment on column reporting.memberships.email is 'The person''s current e-mail address.';
comment on column reporting.memberships.since is 'When a check first saw the person there in this stay (our clock); it began between that check and the one before, or, where that was the very first check, at any time before.';
comment on column reporting.memberships.until is 'When a check first found the person gone (our clock); the stay ended between that check and the one before. Null while it lasts.';

create function reporting.memberships_at(known_at timestamptz)
returns table (organization_id text, kind text, document_id text, organization_user_group_id text, user_id text, name text,
  email text, since timestamptz)
language sql stable
as $$
  select m.organization_id, m.kind, m.document_id, m.organization_user_group_id, m.user_id, m.name, m.email, m.since
  from reporting.memberships m
  where m.since <= known_at and (m.until is null or m.until > known_at)
$$;
comment on function reporting.memberships_at(timestamptz) is 'Who was in which document and user group as it was known at that time (our clock). People have their current names.';

create view reporting.thread_summary as
select o.organization_id, d.document_id, a.annotation_id, a.comment_count as comments, cardinality(a.authors) as people,
  a.first_comment_at, a.last_comment_at, a.first_answer_at,
  round(extract(epoch from a.first_answer_at - a.first_comment_at) / 3600, 2) as hours_to_first_answer,
  round(extract(epoch from now() - a.last_comment_at) / 3600, 2) as hours_since_last_comment,
  a.changed_at
from collab_store.annotations a
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key);
comment on view reporting.thread_summary is 'One row an annotation with its live comments. Which threads are busy, answered late, or forgotten? Key: organization_id, document_id, annotation_id.';
comment on column reporting.thread_summary.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.thread_summary.document_id is 'documentId of the service: the document that was asked for.';
comment on column reporting.thread_summary.annotation_id is 'annotationId of the service: the comment annotation that was asked for.';
comment on column reporting.thread_summary.comments is 'Live comments in it; 0 where there are none.';
comment on column reporting.thread_summary.people is 'Different authors (userIds) of the live comments.';
comment on column reporting.thread_summary.first_comment_at is 'When the first of the live comments was written: lastUpdated (the service''s clock) of its first version that a check saw. An edit before that check moves it.';
comment on column reporting.thread_summary.last_comment_at is 'Latest lastUpdated of a live comment (the service''s clock): written or edited.';
comment on column reporting.thread_summary.first_answer_at is 'When somebody else than the first comment''s author first wrote, told as first_comment_at is; null while nobody did, and where the first author is not known.';
comment on column reporting.thread_summary.hours_to_first_answer is 'Hours from first_comment_at to first_answer_at.';
comment on column reporting.thread_summary.hours_since_last_comment is 'Hours from last_comment_at to now.';
comment on column reporting.thread_summary.changed_at is 'When a check last found any of its comments added, changed, deleted or restored (our clock).';

create view reporting.document_engagement as
select o.organization_id, d.document_id, t.annotations, t.annotations_with_comments, t.comments, cardinality(p.authors)::bigint as people,
  m.members, m.members_who_comment, t.first_comment_at, t.last_comment_at,
  round(extract(epoch from now() - t.last_comment_at) / 86400, 2) as days_since_last_comment
from collab_store.documents d
join collab_store.organizations o using (organization_key)
cross join lateral (
  select count(*) filter (where a.active) as annotations, count(*) filter (where a.comment_count > 0) as annotations_with_comments,
    coalesce(sum(a.comment_count), 0) as comments, min(a.first_comment_at) as first_comment_at,
    max(a.last_comment_at) as last_comment_at
  from collab_store.annotations a
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
comment on column reporting.document_engagement.comments is 'Live comments.';
comment on column reporting.document_engagement.people is 'Different authors (userIds) of the live comments, members or not.';
comment on column reporting.document_engagement.members is 'People in the document as of its last check.';
comment on column reporting.document_engagement.members_who_comment is 'Members who wrote at least one of the live comments.';
comment on column reporting.document_engagement.first_comment_at is 'When the first of the live comments was written, told as in thread_summary (the service''s clock).';
comment on column reporting.document_engagement.last_comment_at is 'Latest lastUpdated of a live comment (the service''s clock).';
comment on column reporting.document_engagement.days_since_last_comment is 'Days from last_comment_at to now.';

-- The weeks of an organization are counted up from its first to its last, each a range of comments_activity: so a
-- narrowing to weeks reads those weeks alone, though the index is by days. Times before 2000 and after 2100 are placeholders
-- rather than times, and would make centuries of empty weeks: they are looked for by themselves, as is no time at all.
create view reporting.author_activity as
select w.organization_id, w.week, w.author_user_id, u.name as author_name, w.comments, w.annotations
from (
  select o.organization_key, o.organization_id, s.week, n.author_user_id, n.comments, n.annotations
  from collab_store.organizations o
  cross join lateral (
    select min(c.day) as first_day, max(c.day) as last_day
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day >= '2000-01-03' and c.day < '2100-01-04'
  ) e
  cross join lateral (
    select generate_series(date_trunc('week', e.first_day::timestamp), e.last_day::timestamp, interval '1 week')::date as week
  ) s
  cross join lateral (
    -- Nearly all groups hold one comment, or two: to sort each of millions of them costs more than all the rest.
    select c.author_user_id collate "C" as author_user_id, count(*) as comments,
      case when min(c.annotation_key) = max(c.annotation_key) then 1 when count(*) = 2 then 2
        else (select count(distinct k) from unnest(array_agg(c.annotation_key)) k) end as annotations
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day >= s.week and c.day < s.week + 7
    group by 1
  ) n
  union all
  select o.organization_key, o.organization_id, n.week, n.author_user_id, n.comments, n.annotations
  from collab_store.organizations o
  cross join (values (date '-infinity', date '2000-01-03'), ('2100-01-04', 'infinity')) r (first_day, end_day)
  cross join lateral (
    select date_trunc('week', c.day::timestamp)::date as week, c.author_user_id collate "C" as author_user_id,
      count(*) as comments, count(distinct c.annotation_key) as annotations
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day >= r.first_day and c.day < r.end_day
    group by 1, 2
  ) n
  union all
  select o.organization_key, o.organization_id, null, n.author_user_id, n.comments, n.annotations
  from collab_store.organizations o
  cross join lateral (
    select c.author_user_id collate "C" as author_user_id, count(*) as comments, count(distinct c.annotation_key) as annotations
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day is null
    group by 1
  ) n
) w
left join collab_store.users u on u.organization_key = w.organization_key and u.user_id = w.author_user_id;
comment on view reporting.author_activity is 'Live comments by organization, week and author. Who writes how much, and since when no more?';
comment on column reporting.author_activity.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.author_activity.week is 'The Monday (UTC) on which the week of the comments'' lastUpdated begins (the service''s clock): an edit moves a comment to the week of the edit. Null where the service gave no time.';
comment on column reporting.author_activity.author_user_id is 'userId of the author; null where the service named none.';
comment on column reporting.author_activity.author_name is 'The author''s current name.';
comment on column reporting.author_activity.comments is 'Live comments of that author last updated in that week.';
comment on column reporting.author_activity.annotations is 'Different annotations among them.';

create view reporting.user_directory as
select o.organization_id, p.user_id, p.name, p.email, p.listed, p.documents, p.user_groups, p.document_ids,
  p.organization_user_group_ids, p.first_seen_at, p.left_at
from collab_store.organizations o
cross join lateral (
  select u.user_id, u.name, u.email, u.listed, coalesce(d.documents, 0) as documents, coalesce(g.user_groups, 0) as user_groups,
    coalesce(d.document_ids, '{}') as document_ids,
    coalesce(g.organization_user_group_ids, '{}') as organization_user_group_ids, u.first_seen_at, u.removed_at as left_at
  from collab_store.users u
  left join (
    select s.user_id, count(*) as documents, array_agg(x.document_id order by x.document_id collate "C") as document_ids
    from collab_store.documents x join collab_store.document_users s using (document_key)
    where x.organization_key = o.organization_key and s.removed_at is null
    group by s.user_id
  ) d using (user_id)
  left join (
    select s.user_id, count(*) as user_groups,
      array_agg(x.organization_user_group_id order by x.organization_user_group_id collate "C") as organization_user_group_ids
    from collab_store.user_groups x join collab_store.user_group_members s using (user_group_key)
    where x.organization_key = o.organization_key and s.removed_at is null
    group by s.user_id
  ) g using (user_id)
  where u.organization_key = o.organization_key
  offset 0 -- one organization after the other: its memberships are gathered once, not once a person
) p;
comment on view reporting.user_directory is 'One row a person and organization. Who is there, in which documents and user groups, and who left? Key: organization_id, user_id.';
comment on column reporting.user_directory.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.user_directory.user_id is 'userId of the service.';
comment on column reporting.user_directory.name is 'Name as last received; null where the service left it out.';
comment on column reporting.user_directory.email is 'E-mail address as last received; null where the service left it out.';
comment on column reporting.user_directory.listed is 'True while the organization''s own listing holds the person; false for those who left it, and for guests and authors who never were in it.';
comment on column reporting.user_directory.documents is 'Documents that the person is in, as of their last checks.';
comment on column reporting.user_directory.user_groups is 'Organization user groups that the person is in, as of their last checks.';
comment on column reporting.user_directory.document_ids is 'documentIds of those documents, sorted.';
comment on column reporting.user_directory.organization_user_group_ids is 'Ids of those user groups, sorted.';
comment on column reporting.user_directory.first_seen_at is 'When a check first saw the person in this organization (our clock).';
comment on column reporting.user_directory.left_at is 'When a check first found the person gone from the organization''s listing (our clock); it happened between that check and the one before. Null while listed, and for those never listed.';

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

create view reporting.coverage as
select s.organization_id, s.level, count(*) filter (where s.active) as known,
  count(*) filter (where s.active and s.checked_at >= now() - interval '36 hours') as fresh,
  count(*) filter (where s.active and s.checked_at < now() - interval '36 hours') as stale,
  count(*) filter (where s.active and s.checked_at is null) as never_synced,
  count(*) filter (where s.active and s.is_failing) as failing,
  count(*) filter (where s.active and s.is_held) as held,
  count(*) filter (where not s.active) as not_in_catalog
from (
  select x.organization_id, 'organization' as level, x.active, t.checked_at,
    exists (select from sync.failures f
      where f.batch_key = b.batch_key and f.scope_no = 0 and f.at > coalesce(t.checked_at, '-infinity')) as is_failing,
    exists (select from sync.held h where h.kind = 'organization' and h.scope_key = x.organization_key and h.resolved_at is null) as is_held
  from collab_store.organizations x
  left join collab_store.batches b on b.organization_key = x.organization_key and b.operation = 'users' and b.batch_no = 0
  cross join lateral (select coalesce(nullif(x.own_checked_at, '-infinity'),
    case when x.own_checked_at is null then b.checked_at end) as checked_at) t
  union all
  select o.organization_id, 'user group', x.active, t.checked_at,
    exists (select from sync.failures f
      where f.batch_key = x.batch_key and f.scope_no = x.scope_no and f.at > coalesce(t.checked_at, '-infinity')),
    exists (select from sync.held h where h.kind = 'group' and h.scope_key = x.user_group_key and h.resolved_at is null)
  from collab_store.user_groups x
  join collab_store.organizations o using (organization_key)
  join collab_store.batches b using (batch_key)
  cross join lateral (select coalesce(nullif(x.own_checked_at, '-infinity'),
    case when x.own_checked_at is null then b.checked_at end) as checked_at) t
  union all
  select o.organization_id, 'document', x.active, t.checked_at,
    exists (select from sync.failures f
      where f.batch_key = x.batch_key and f.scope_no = x.scope_no and f.at > coalesce(t.checked_at, '-infinity')),
    exists (select from sync.held h where h.kind = 'document' and h.scope_key = x.document_key and h.resolved_at is null)
  from collab_store.documents x
  join collab_store.organizations o using (organization_key)
  join collab_store.batches b using (batch_key)
  cross join lateral (select coalesce(nullif(x.own_checked_at, '-infinity'),
    case when x.own_checked_at is null then b.checked_at end) as checked_at) t
  union all
  select o.organization_id, 'annotation', x.active, t.checked_at,
    exists (select from sync.failures f
      where f.batch_key = x.batch_key and f.scope_no = x.scope_no and f.at > coalesce(t.checked_at, '-infinity')),
    false
  from collab_store.annotations x
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  join collab_store.batches b on b.batch_key = x.batch_key
  cross join lateral (select coalesce(nullif(x.own_checked_at, '-infinity'),
    case when x.own_checked_at is null then b.checked_at end) as checked_at) t
  union all
  -- People are checked by their organization's listing, which is its catalog of people.
  select g.organization_id, 'user', x.listed, t.checked_at, false, false
  from collab_store.users x
  join collab_store.organizations g using (organization_key)
  left join collab_store.batches b on b.organization_key = x.organization_key and b.operation = 'users' and b.batch_no = 0
  cross join lateral (select coalesce(nullif(g.own_checked_at, '-infinity'),
    case when g.own_checked_at is null then b.checked_at end) as checked_at) t
) s
group by 1, 2;
comment on view reporting.coverage is 'How much of what is known was checked, and how lately, by organization and level. How far can the numbers be trusted? known = fresh + stale + never_synced. Key: organization_id, level.';
comment on column reporting.coverage.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.coverage.level is 'What is counted: organization, user group, document, annotation or user.';
comment on column reporting.coverage.known is 'How many the catalog lists; of users, how many the organization''s listing holds.';
comment on column reporting.coverage.fresh is 'Last good reading began within 36 hours (our clock): one nightly run may be late.';
comment on column reporting.coverage.stale is 'Last good reading is older than that.';
comment on column reporting.coverage.never_synced is 'No good reading yet.';
comment on column reporting.coverage.failing is 'Failed since the last good reading; also counted as fresh, stale or never_synced.';
comment on column reporting.coverage.held is 'The last listing lacked so many users that nobody was removed until a person looks; also counted as fresh, stale or never_synced.';
comment on column reporting.coverage.not_in_catalog is 'Ids that our rows hold and the catalog no longer lists; of users, people seen as authors or members who are not in the organization''s listing.';

create type reporting.found_comment as (
  rank real, organization_id text, document_id text, annotation_id text, comment_id bigint, author_user_id text,
  author_name text, comment_text text, last_updated timestamptz
);
comment on type reporting.found_comment is 'One row of reporting.search_comments().';
comment on column reporting.found_comment.rank is 'How well the text fits, from 0: more and closer words of the query in a shorter text rank higher.';
comment on column reporting.found_comment.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.found_comment.document_id is 'documentId of the service: the document that was asked for.';
comment on column reporting.found_comment.annotation_id is 'annotationId of the service: the comment annotation that was asked for.';
comment on column reporting.found_comment.comment_id is 'commentId of the service, unique within its annotation.';
comment on column reporting.found_comment.author_user_id is 'userId of the author.';
comment on column reporting.found_comment.author_name is 'The author''s current name.';
comment on column reporting.found_comment.comment_text is 'Plain text of the comment.';
comment on column reporting.found_comment.last_updated is 'lastUpdated of the service (the service''s clock).';

create function reporting.search_comments(query text, organization_id text default null, max_results integer default 100)
returns setof reporting.found_comment
language sql stable
as $$
  select ts_rank(reporting.comment_words(f.comment_text), reporting.search_query($1), 1) as rank, f.organization_id, f.document_id,
    f.annotation_id, f.comment_id, f.author_user_id, f.author_name, f.comment_text, f.last_updated
  from (
    select c.organization_id, c.document_id, c.annotation_id, c.comment_id, c.author_user_id, c.author_name, c.comment_text,
      c.last_updated
    from reporting.comments c
    where reporting.comment_words(c.comment_text) @@ reporting.search_query($1) and ($2 is null or c.organization_id = $2)
    limit 2000 -- ranking reads every text again: of a word that common any two thousand are ranked
  ) f
  order by 1 desc, f.last_updated desc nulls last, f.organization_id, f.document_id, f.annotation_id, f.comment_id
  limit $3
$$;
comment on function reporting.search_comments(text, text, integer) is 'Live comments that hold the words, best first, in any language and script: all organizations or one, at most max_results. Words also match as the beginning of a longer one; "in quotes" exactly; -without; this or that. Of more than 2,000 matches any 2,000 are ranked. In one organization of some 10,000 comments that takes 0.3 s; to search millions make the index first, which makes each new comment dearer: collab-sync migrate --search-index on, which is: create index concurrently comments_words on collab_store.comments using gin (reporting.comment_words(comment_text)).';

-- A view has no key that the database knows: its COMMENT ends with it, where collab-sync dictionary finds it.
comment on view collab.organizations is 'Organizations of the catalog. Key: organization_id.';
comment on view collab.user_groups is 'Organization user groups of the catalog. Key: organization_id, organization_user_group_id.';
comment on view collab.documents is 'Documents of the catalog. Key: organization_id, document_id.';
comment on view collab.annotations is 'Comment annotations of the catalog: each holds a thread of comments. Key: organization_id, document_id, annotation_id.';
comment on view collab.users is 'One row a person and organization: listed members, and people seen only in a document, a group or as authors. Key: organization_id, user_id.';
comment on view collab.document_users is 'Who is, or was, in a document. Key: organization_id, document_id, user_id.';
comment on view collab.user_group_members is 'Who is, or was, in an organization user group. Key: organization_id, organization_user_group_id, user_id.';
comment on view collab.comments is 'Comments as of the last check, deleted ones too (see deleted_at). Key: organization_id, document_id, annotation_id, comment_id.';
comment on view collab.comment_versions is 'Every version of every comment, the current one too (valid_to is null). Key: organization_id, document_id, annotation_id, comment_id, version.';
comment on view reporting.comments is 'Live comments with their author''s current name and e-mail address. Key: organization_id, document_id, annotation_id, comment_id.';

-- Comments that said no more than the name.
comment on column sync.failures.run_id is 'The run in which the scope was asked for; its row in sync.runs.';
comment on column sync.runs.run_id is 'Our id, as status and the logs show it; random.';
comment on column collab_store.batches.batch_key is 'Our number, by which items of runs and scopes name it.';
comment on column collab_store.documents.document_key is 'Our number; the service''s id is document_id.';
comment on column collab_store.document_users.document_key is 'Whose listing it is: a row of documents.';
comment on column collab_store.user_groups.user_group_key is 'Our number; the service''s id is organization_user_group_id.';
comment on column collab_store.user_group_members.user_group_key is 'Whose listing it is: a row of user_groups.';
