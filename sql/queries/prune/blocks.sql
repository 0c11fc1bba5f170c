-- Number of disk blocks of a table. It is pruned block by block, so that each step is short and nothing is read twice,
-- whatever indexes exist.
-- Params: $1 table.
-- Never null: blocks.
select (pg_relation_size($1::regclass) / current_setting('block_size')::bigint)::int as blocks
