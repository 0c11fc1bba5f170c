-- The role that Grafana logs in as: may read collab and reporting, nothing else. Safe to repeat; sets its password anew.
-- Run by psql 14 or newer with the password in the environment variable ROLE_PASSWORD.
\set password ''
\getenv password ROLE_PASSWORD
select :'password' = '' as has_none \gset
\if :has_none
  do $$ begin raise 'Set GRAFANA_DATABASE_PASSWORD in .env.'; end $$;
\endif
select 'create role collab_grafana login' where to_regrole('collab_grafana') is null \gexec
alter role collab_grafana password :'password' connection limit 10;
alter role collab_grafana set default_transaction_read_only = on;
alter role collab_grafana set statement_timeout = '30s';
grant collab_reader to collab_grafana;
