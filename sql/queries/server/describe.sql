-- The server, the privileges of this role in this database, and the server's time.
-- Params: none.
-- Never null: version, role, clock, may_create_schemas, size.
select current_setting('server_version') as version, current_user as role, clock_timestamp() as clock,
  has_database_privilege(current_database(), 'create') as may_create_schemas,
  pg_size_pretty(pg_database_size(current_database())) as size
