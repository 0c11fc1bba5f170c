-- Counts the active entries that are missing from an import: in total, and for each organization with more than ten and
-- more than a tenth missing.
-- Params: $1 operations (those that have one scope of each entry).
-- Never null: scopes, lacking, organizations, is_much, digest.
with by_organization as (
  select b.organization_key, sum(b.scopes)::integer as scopes, coalesce(max(l.lacking), 0)::integer as lacking
  from collab_store.batches b
  left join (select organization_key, count(*) as lacking from import_lacking group by 1) l using (organization_key)
  where b.operation = any($1)
  group by 1
), much as (
  select organization_key, lacking from by_organization where lacking > 10 and lacking * 10::bigint > scopes
), whole as (
  select coalesce(sum(scopes), 0)::integer as scopes, coalesce(sum(lacking), 0)::integer as lacking from by_organization
)
select w.scopes, w.lacking, (select count(*)::integer from much) as organizations,
  w.lacking > 10 and w.lacking * 10::bigint > w.scopes or exists (select from much) as is_much,
  (select o.organization_id from much m join collab_store.organizations o using (organization_key)
    order by m.lacking desc, o.organization_id limit 1) as first_organization_id,
  (select coalesce(sum(hashtextextended(l.kind || l.key, 0)), 0)::text from import_lacking l) as digest
from whole w
