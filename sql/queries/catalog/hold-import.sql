-- Records an import as held, with the number of lacking scopes.
-- Params: $1 source, $2 requestedBy, $3 lines, $4 scopes, $5 lacking, $6 organizations, $7 firstOrganizationId?, $8 digest.
with held as (
  insert into sync.catalog_imports (source, requested_by, state, prunes, lines, scopes, lacking, organizations, first_organization_id,
    lacking_digest)
  values ($1, $2, 'held', true, $3, $4, $5, $6, $7, $8)
  returning import_id
), keys as (
  insert into sync.catalog_lacking (import_id, kind, keys)
  select h.import_id, p.kind, array_agg(p.key)
  from held h
  cross join (select kind, key, (row_number() over (partition by kind order by key) - 1) / 10000 as part from import_lacking) p
  group by h.import_id, p.kind, p.part
)
select import_id from held
