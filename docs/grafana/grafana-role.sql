-- Creates the role of Grafana, which reads collab and reporting and nothing else. Safe to repeat; each time, it sets the password.
-- Run it with psql 14 or newer and the password in the environment variable GRAFANA_DATABASE_PASSWORD.
\set password ''
\getenv password GRAFANA_DATABASE_PASSWORD
select :'password' = '' as has_none \gset
\if :has_none
  do $$ begin raise 'Set the environment variable GRAFANA_DATABASE_PASSWORD.'; end $$;
\endif
select 'create role collab_grafana login' where to_regrole('collab_grafana') is null \gexec
alter role collab_grafana password :'password' connection limit 10;
alter role collab_grafana set default_transaction_read_only = on;
alter role collab_grafana set statement_timeout = '30s';
grant collab_reader to collab_grafana;
