-- By which version of the operating system's or ICU's collation the indexes of this database were made, and which version the
-- server has now; null where the collation has no versions, such as C. Asks for what PostgreSQL has from version 15 on.
-- Params: none.
-- Never null: database_name, is_changed.
select quote_ident(d.datname) as database_name, d.datcollversion as made_with, v.now as now,
  coalesce(d.datcollversion <> v.now, false) as is_changed
from pg_database d
cross join lateral (select pg_database_collation_actual_version(d.oid) as now) v
where d.datname = current_database()
