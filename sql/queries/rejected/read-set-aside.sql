-- Which digests are dismissed.
-- Params: $1 digests[?].
select digest from sync.set_aside_records where digest = any($1::bytea[])
