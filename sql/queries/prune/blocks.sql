-- How many blocks of the disk a table has: it is pruned block by block, so that no step takes long and nothing is read
-- twice, whatever indexes there are.
-- Params: $1 table.
-- Never null: blocks.
select (pg_relation_size($1::regclass) / current_setting('block_size')::bigint)::int as blocks
