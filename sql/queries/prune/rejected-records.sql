-- Deletes records that were rejected and last received before a time from some blocks of the table.
-- Params: $1 before, $2 firstBlock, $3 endBlock.
delete from sync.rejected_records
where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid and at < $1
