-- Collation version (operating system or ICU) with which the indexes of this database were created, and the server's
-- current version; null if the collation has no versions, such as C. Requires PostgreSQL 15.
-- Params: none.
-- Never null: database_name, is_changed.
select quote_ident(d.datname) as database_name, d.datcollversion as made_with, v.now as now,
  coalesce(d.datcollversion <> v.now, false) as is_changed
from pg_database d
cross join lateral (select pg_database_collation_actual_version(d.oid) as now) v
where d.datname = current_database()
