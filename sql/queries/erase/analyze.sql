-- Statements that recompute the planner's statistics, one per table, because these contain samples of values, names and
-- texts.
-- Params: none.
-- Never null: statement.
select format('analyze %I.%I', schemaname, relname) as statement
from pg_catalog.pg_stat_user_tables
where schemaname in ('collab', 'collab_store', 'reporting', 'sync', 'collab_sync', 'bullmq')
order by 1
