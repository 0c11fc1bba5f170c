-- Statements that recompute the planner's statistics, one per table, because these contain samples of values, names and
-- texts. Left out are large tables with neither texts of the service nor digests of them.
-- Params: none.
-- Never null: statement.
select format('analyze %I.%I', schemaname, relname) as statement
from pg_catalog.pg_stat_user_tables
where schemaname in ('collab', 'collab_store', 'reporting', 'sync', 'collab_sync', 'bullmq')
  and (schemaname, relname) not in (('collab_store', 'changes'), ('collab_store', 'recent_threads'), ('sync', 'run_items'))
order by 1
