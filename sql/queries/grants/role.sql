-- What is known of a role; nothing where there is none.
-- Params: $1 role.
-- Never null: is_superuser, reads_beneath.
select r.rolsuper as is_superuser,
  has_schema_privilege(r.oid, 'collab_store', 'usage') or has_schema_privilege(r.oid, 'sync', 'usage') as reads_beneath
from pg_roles r
where r.rolname = $1
