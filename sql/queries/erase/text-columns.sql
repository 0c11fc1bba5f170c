-- Every table of ours with columns that can hold text, from the catalog, so that none is forgotten; with the statements that
-- find rows by patterns, lock some of them, and write them. Left out: the columns that records are written through, generated
-- ones, those whose words a CHECK lists, the service's own ids of what the catalog asks for, what erasures look for, the ids of
-- workers, in which erasures replace nothing, and the names of roles: an analyst may be called like a user of the service.
-- `find` has the patterns as $1, organization keys or null for all as $2, the user id or null as $3; the others take what
-- they lock or write as $1. Their conditions depend on whether there are keys: PostgreSQL uses no index for either.
-- Params: $1 isOneOrganization.
-- Never null: relation, find, lock, rewrite.
with texts as (
  select format('%I.%I', n.nspname, r.relname) as relation, quote_ident(a.attname) as name, quote_literal(a.attname) as label,
    t.typcategory = 'A' as is_array, t.typname in ('json', 'jsonb') as is_json, format_type(a.atttypid, null) as type
  from pg_catalog.pg_attribute a
  join pg_catalog.pg_class r on r.oid = a.attrelid and r.relkind = 'r'
  join pg_catalog.pg_namespace n on n.oid = r.relnamespace
  join pg_catalog.pg_type t on t.oid = a.atttypid
  left join pg_catalog.pg_type e on e.oid = t.typelem and t.typcategory = 'A'
  where n.nspname in ('collab', 'collab_store', 'reporting', 'sync', 'collab_sync', 'bullmq')
    and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    and (t.typcategory = 'S' or t.typname in ('json', 'jsonb') or e.typcategory = 'S')
    and a.attname not in ('organization_id', 'document_id', 'annotation_id', 'organization_user_group_id')
    and a.attname not in ('role_name', 'worker_id')
    and not (n.nspname = 'sync' and r.relname = 'erasures' and a.attname <> 'reason')
    and not (n.nspname = 'collab_store' and r.relname = 'users' and a.attname in ('user_id',
      /* user columns: '{column}' */ 'name', 'email', 'rest' /* end */))
    and not (n.nspname = 'collab_store' and r.relname = 'comments' and a.attname in (
      /* comment columns: '{column}' */ 'comment_text', 'comment_html', 'author_user_id', 'author_name', 'author_email',
        'status', 'type', 'last_updated', 'rest' /* end */))
    and not exists (select from pg_catalog.pg_constraint c
      where c.conrelid = r.oid and c.contype = 'c' and c.conkey = array[a.attnum])
), keyed as (
  select x.*, (
    select case
      when bool_or(a.attname = 'organization_id') then
        'organization_id in (select o.organization_id from collab_store.organizations o where o.organization_key = any($2::int[]))'
      when bool_or(a.attname = 'organization_key') then 'organization_key = any($2::int[])'
      when bool_or(a.attname = 'document_key') and bool_or(a.attname = 'user_group_key') then
        'document_key in (select d.document_key from collab_store.documents d where d.organization_key = any($2::int[]))
        or user_group_key in (select g.user_group_key from collab_store.user_groups g where g.organization_key = any($2::int[]))'
      when bool_or(a.attname = 'document_key') then
        'document_key in (select d.document_key from collab_store.documents d where d.organization_key = any($2::int[]))'
      when bool_or(a.attname = 'annotation_key') then 'annotation_key in (select a.annotation_key from collab_store.annotations a
        join collab_store.documents d using (document_key) where d.organization_key = any($2::int[]))'
      when bool_or(a.attname = 'user_group_key') then
        'user_group_key in (select g.user_group_key from collab_store.user_groups g where g.organization_key = any($2::int[]))'
      else '$2::int[] is not null'
    end
    from pg_catalog.pg_attribute a where a.attrelid = x.relation::regclass and a.attnum > 0 and not a.attisdropped
  ) as is_of_organization
  from texts x
)
select relation,
  format($$select tid, length(words) as units from (select ctid::text as tid, concat_ws(E'\n', %s) as words from %s where %s) t
    where (words ~ '[@＠﹫\\]|%%[0-9a-fA-F]{2}|hmac:' or position($3 in words) > 0) and words ~* any($1::text[])$$,
    string_agg(name || '::text', ', '), relation,
    case when $1 then min(is_of_organization) else '$2::int[] is null' end) as find,
  format('select ctid::text as tid, jsonb_build_object(%s)::text as texts from %s where ctid = any($1::tid[]) for update skip locked',
    string_agg(format('%s, %s', label, name), ', '), relation) as lock,
  format('update %s t set %s from jsonb_to_recordset($1::jsonb) n (tid tid, texts jsonb) where t.ctid = n.tid', relation,
    string_agg(format(case
        when is_array then $$%1$s = case jsonb_typeof(n.texts -> %2$s) when 'array'
          then array(select jsonb_array_elements_text(n.texts -> %2$s))::%3$s else t.%1$s end$$
        when is_json then $$%1$s = coalesce(nullif(n.texts -> %2$s, 'null'), t.%1$s::jsonb)::%3$s$$
        else $$%1$s = coalesce(n.texts ->> %2$s, t.%1$s)::%3$s$$
      end, name, label, type), ', ')) as rewrite
from keyed
group by relation
order by relation
