-- Which digests are set aside.
-- Params: $1 digests[?].
select digest from sync.set_aside_records where digest = any($1::bytea[])
