-- Rows as years of syncs would have left them; :organizations, :annotations and :comments are replaced by their numbers. Organizations differ in size as customers do (number n has 1/sqrt(n) of the first one's), comments lie in
-- three years before 2026-11-01, one in ten was edited, one in thirty deleted, and some of those are back. The first load
-- was on 2025-01-01; what came later lies in the order of the nights that found it.
set synchronous_commit = off;
set work_mem = '256MB';
set maintenance_work_mem = '256MB';

-- Made again at the end: five million rows are put into them many times faster at once than one by one.
create temp table indexes as
select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
from pg_index where indrelid = 'collab_store.comments'::regclass and not indisprimary;
do $$ declare i record; begin for i in select * from indexes loop execute 'drop index ' || i.name; end loop; end $$;

insert into collab_store.organizations (organization_id)
select 'org-' || n from generate_series(1, :organizations) n;

create temp table sizes as
select n as organization_key, greatest(1, round(:annotations * share)::int) as annotations,
  greatest(4, round(:annotations * share / 16)::int) as users
from (select n, (1 / sqrt(n)) / sum(1 / sqrt(n)) over () as share from generate_series(1, :organizations) n) s;

insert into collab_store.batches (organization_key, batch_no, scopes, checked_at, operation)
select s.organization_key, b, 256, timestamptz '2026-11-01 02:00Z', o.operation
from sizes s, (values ('users', 320), ('comments', 1)) o (operation, per),
  lateral generate_series(0, s.annotations / (256 * o.per / case o.operation when 'users' then 16 else 1 end)) b
order by 1, 2;

insert into collab_store.user_groups (organization_key, batch_key, scope_no, organization_user_group_id)
select s.organization_key, b.batch_key, g, 'group-' || g
from sizes s join collab_store.batches b on b.organization_key = s.organization_key and b.operation = 'users' and b.batch_no = 0,
  lateral generate_series(1, 4) g
order by 1, 3;

insert into collab_store.documents (organization_key, batch_key, scope_no, document_id)
select s.organization_key, b.batch_key, d % 200, 'doc-' || d
from sizes s join collab_store.batches b on b.organization_key = s.organization_key and b.operation = 'users' and b.batch_no = 0,
  lateral generate_series(1, greatest(1, s.annotations / 20)) d
order by 1, d;

insert into collab_store.annotations (document_key, batch_key, scope_no, changed_at, body_digest, content_digest, annotation_id)
select d.document_key, b.batch_key, a % 256, timestamptz '2026-10-01 02:00Z', '\x00112233445566778899aabbccddeeff', '\x00112233445566778899aabbccddeeff',
  'ann-' || a
from sizes s
join (select *, row_number() over (partition by organization_key order by document_key) - 1 as document_no,
    count(*) over (partition by organization_key) as documents from collab_store.documents) d using (organization_key)
join lateral generate_series(d.document_no, s.annotations - 1, d.documents) a on true
join collab_store.batches b on b.organization_key = s.organization_key and b.operation = 'comments' and b.batch_no = a / 256
order by d.document_key, a;

insert into collab_store.users (organization_key, source, listed, first_seen_at, changed_at, removed_at, digest, user_id, name, email)
select organization_key, 3, u % 20 <> 0, '2025-01-01Z', '2025-01-01Z', case when u % 20 = 0 then timestamptz '2026-03-01Z' end,
  '\x00112233445566778899aabbccddeeff', 'user-' || u, 'Person Number ' || u, 'user' || u || '@org' || organization_key || '.example'
from sizes, generate_series(1, users) u;

insert into collab_store.document_users (document_key, first_seen_at, joined_at, removed_at, user_id)
select distinct on (d.document_key, user_id) d.document_key, timestamptz '2025-01-01Z', timestamptz '2025-01-01Z',
  case when n = 4 then timestamptz '2026-03-01Z' end, user_id
from collab_store.documents d join sizes s using (organization_key),
  lateral (select n, 'user-' || 1 + (d.document_key * 7 + n * 3) % s.users as user_id from generate_series(1, 5) n) m
order by d.document_key, user_id;

insert into collab_store.user_group_members (user_group_key, first_seen_at, joined_at, user_id)
select user_group_key, '2025-01-01Z', '2025-01-01Z', 'user-' || u
from collab_store.user_groups join sizes using (organization_key), generate_series(1, users) u
where u % 4 = user_group_key % 4;

alter table collab_store.comments set (autovacuum_enabled = false);
create temp table phrases (n int, text text);
insert into phrases values
  (0, 'Please check the total on page '), (1, 'I think this paragraph repeats section '), (2, 'Looks good to me, see revision '),
  (3, 'Bitte auf Seite prüfen, die Größe stimmt nicht: '), (4, 'Проверьте, пожалуйста, пункт '), (5, 'يرجى مراجعة الصفحة '),
  (6, '请检查这一页的合计 第'), (7, 'このページを確認してください。合計が違います '), (8, '페이지를 확인해 주세요 '), (9, 'कृपया पृष्ठ की जाँच करें ');

insert into collab_store.comments (comment_id, last_updated, first_seen_at, changed_at, version_at, deleted_at,
  organization_key, annotation_key, version, digest, change, status, type, author_user_id, author_name, author_email, comment_text, comment_html, rest,
  first_updated, day)
select 100000 + c * 10, at, seen, seen, seen, case when h % 30 = 7 then seen end,
  organization_key, annotation_key,
  case when h % 10 = 7 then 2 else 1 end, '\x00112233445566778899aabbccddeeff',
  case when h % 30 = 7 then 'deleted' when h % 10 = 7 then 'edited' else 'added' end,
  (array['added', 'added', 'added', 'updated', 'resolved', 'added', 'added', 'wontFix'])[1 + h % 8],
  case when h % 50 = 3 then 'voice' else 'text' end,
  'user-' || u, 'Person Number ' || u, 'user' || u || '@org' || organization_key || '.example',
  case when h % 50 <> 3 then words end, case when h % 50 <> 3 then '<p>' || words || '</p>' end,
  case when h % 12 = 5 then '{"reactions": [{"emoji": "👍", "count": 3}]}'::jsonb end,
  case when h % 10 = 7 then at - interval '3 hours' end,
  (case when h % 10 = 7 then at - interval '3 hours' else at end at time zone 'UTC')::date
from (
  select *, greatest(date_trunc('day', at at time zone 'UTC') at time zone 'UTC' + interval '26 hours', '2025-01-01 02:00Z') as seen,
    p.text || h % 400 || '. ' || q.text || 'code' || h % 99991 as words
  from (
    select annotation_key, organization_key, c, h,
      timestamptz '2023-11-01Z' + interval '1096 days' * ((hashint4(annotation_key) & 1048575) / 1048576.0)
        - interval '7 days' * ((h & 1023) / 1024.0) as at,
      1 + (h >> 5) % users as u
    from (
      select a.annotation_key, s.organization_key, s.users, c, hashint4(a.annotation_key * 31 + c) & 16777215 as h
      from collab_store.annotations a
      join collab_store.documents d using (document_key)
      join sizes s using (organization_key),
        lateral generate_series(1, (:comments::numeric / :annotations * 2 * (hashint4(a.annotation_key + 7) & 1023) / 1023.0)::int) c
    ) x
  ) y
  join phrases p on p.n = h % 10
  join phrases q on q.n = (h >> 4) % 10
) z
order by seen, annotation_key, c;
alter table collab_store.comments reset (autovacuum_enabled);

insert into collab_store.comment_versions (comment_id, last_updated, valid_from, valid_to, annotation_key, version, change, status, type,
  comment_text, comment_html)
select comment_id, last_updated - interval '3 hours', first_seen_at - interval '1 day', version_at, annotation_key, 1, 'added', 'added', type,
  comment_text || ' (first)', comment_html
from collab_store.comments where version = 2;

-- The same as collab_store.thread_facts, of all threads at once.
update collab_store.annotations a
set comment_count = f.live, first_comment_at = f.first_comment_at, last_comment_at = f.last_comment_at,
  first_answer_at = f.first_answer_at, authors = f.authors
from (
  select annotation_key, count(*) as live, min(written_at) as first_comment_at, max(last_updated) as last_comment_at,
    min(written_at) filter (where author_user_id <> first_author) as first_answer_at,
    array_agg(distinct author_user_id collate "C") as authors
  from (
    select c.annotation_key, c.author_user_id, c.last_updated, w.written_at,
      first_value(c.author_user_id) over (partition by c.annotation_key order by w.written_at, c.comment_id) as first_author
    from collab_store.comments c
    left join collab_store.comment_versions v using (annotation_key, comment_id)
    cross join lateral (select coalesce(v.last_updated, c.last_updated) as written_at) w
    where c.deleted_at is null
  ) t
  group by annotation_key
) f
where a.annotation_key = f.annotation_key;

do $$ declare i record; begin for i in select * from indexes loop execute i.definition; end loop; end $$;

insert into sync.runs (trigger, status, started_at, finished_at, requested_at)
select 'schedule', 'succeeded', d, d + interval '20 minutes', d from generate_series(timestamptz '2025-01-01 02:00Z', '2026-11-01 02:00Z', '1 day') d;
