import type { Database } from '../../src/core/database/pool.ts'

/**
 * All that PostgreSQL's catalog says of a database, one line a thing, sorted: schemas, relations, columns, constraints,
 * indexes, views, functions, triggers, policies, sequences, comments, grants and publications.
 * @param withPlaces also which file each relation is in and which number each thing has: what was made anew is told
 */
export async function describeCatalog(database: Database, withPlaces = false): Promise<string[]> {
  const { rows } = await database.query<{ line: string }>(CATALOG, [withPlaces])
  return rows.map(({ line }) => line)
}

// Names of not-null constraints, which PostgreSQL 18 has, are constraints like others.
const CATALOG = `
  with ours as (
    select * from pg_namespace
    where nspname !~ '^pg_' and nspname <> 'information_schema'
  ), relations as (
    select c.*, format('%I.%I', nspname, relname) as name
    from pg_class c join ours on ours.oid = relnamespace
  ), comments as (
    select classoid, objoid, objsubid, description from pg_description
    union all
    select classoid, objoid, 0, description from pg_shdescription
  ), things as (
    select 'pg_namespace'::regclass as class, oid, 0 as part, 'schema ' || nspname as thing, jsonb_build_object('acl', nspacl::text) as facts
    from ours
    union all
    select 'pg_class'::regclass, oid, 0, 'relation ' || name, jsonb_build_object(
      'kind', relkind, 'persistence', relpersistence, 'options', reloptions, 'acl', relacl::text, 'owner', pg_get_userbyid(relowner),
      'row security', array[relrowsecurity, relforcerowsecurity], 'replica identity', relreplident, 'checks', relchecks,
      'method', (select amname from pg_am where oid = relam),
      'file', case when $1 then relfilenode end,
      'definition', case relkind when 'v' then pg_get_viewdef(oid) when 'i' then pg_get_indexdef(oid) end,
      'key', (select to_jsonb(i) - '{indexrelid,indrelid,indcollation,indclass,indexprs,indpred}'::text[] from pg_index i where indexrelid = relations.oid),
      'sequence', (select to_jsonb(s) - '{seqrelid}'::text[] from pg_sequence s where seqrelid = relations.oid))
    from relations
    union all
    select 'pg_class'::regclass, attrelid, attnum, format('column %s %s %s', name, attnum, attname), jsonb_build_object(
      'type', format_type(atttypid, atttypmod), 'not null', attnotnull, 'identity', attidentity, 'generated', attgenerated,
      'storage', attstorage, 'compression', attcompression, 'statistics', nullif(attstattarget, -1), 'collation', attcollation::regcollation::text,
      'inherited', attinhcount, 'acl', attacl::text, 'default', pg_get_expr(adbin, adrelid))
    from relations
    join pg_attribute on attrelid = relations.oid and attnum > 0
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
    union all
    select 'pg_constraint'::regclass, p.oid, 0, format('constraint %s %s', name, conname), jsonb_build_object(
      'definition', pg_get_constraintdef(p.oid), 'valid', convalidated, 'deferrable', array[condeferrable, condeferred])
    from pg_constraint p join relations on relations.oid = conrelid
    union all
    select 'pg_proc'::regclass, p.oid, 0, format('function %s.%s(%s)', nspname, proname, pg_get_function_identity_arguments(p.oid)), jsonb_build_object(
      'definition', pg_get_functiondef(p.oid), 'acl', proacl::text, 'owner', pg_get_userbyid(proowner))
    from pg_proc p join ours on ours.oid = pronamespace
    union all
    select 'pg_type'::regclass, t.oid, 0, format('type %s.%s', nspname, typname), jsonb_build_object('kind', typtype, 'acl', typacl::text)
    from pg_type t join ours on ours.oid = typnamespace
    union all
    -- The triggers of foreign keys are named by their numbers.
    select 'pg_trigger'::regclass, t.oid, 0, format('trigger %s %s', name, tgname),
      jsonb_build_object('definition', pg_get_triggerdef(t.oid), 'enabled', tgenabled)
    from pg_trigger t join relations on relations.oid = tgrelid
    where not tgisinternal
    union all
    select 'pg_rewrite'::regclass, w.oid, 0, format('rule %s %s', name, rulename), jsonb_build_object('enabled', ev_enabled)
    from pg_rewrite w join relations on relations.oid = ev_class
    union all
    select 'pg_policy'::regclass, p.oid, 0, format('policy %s %s', name, polname), jsonb_build_object(
      'using', pg_get_expr(polqual, polrelid), 'check', pg_get_expr(polwithcheck, polrelid), 'command', polcmd,
      'permissive', polpermissive, 'roles', polroles::text)
    from pg_policy p join relations on relations.oid = polrelid
    union all
    select 'pg_default_acl'::regclass, d.oid, 0, format('default grants in %s', nspname),
      jsonb_build_object('of', pg_get_userbyid(defaclrole), 'kind', defaclobjtype, 'acl', defaclacl::text)
    from pg_default_acl d left join ours on ours.oid = defaclnamespace
    union all
    select 'pg_publication'::regclass, oid, 0, 'publication ' || pubname, to_jsonb(p) - '{oid}'::text[] from pg_publication p
    union all
    select 'pg_statistic_ext'::regclass, oid, 0, 'statistics ' || stxname, jsonb_build_object('definition', pg_get_statisticsobjdef(oid))
    from pg_statistic_ext
    union all
    select 'pg_event_trigger'::regclass, oid, 0, 'event trigger ' || evtname, '{}' from pg_event_trigger
    union all
    select 'pg_extension'::regclass, oid, 0, 'extension ' || extname, jsonb_build_object('version', extversion) from pg_extension
  )
  select concat_ws(' ', thing, case when $1 then oid end, jsonb_strip_nulls(facts), to_json(description)) as line
  from things
  left join comments on classoid = class and objoid = oid and objsubid = part
  order by thing collate "C"`
