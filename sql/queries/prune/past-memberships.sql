-- Deletes past stays in documents and groups from some blocks of the table. The present, or last, stay of each stays.
-- Params: $1 before when, $2 first block, $3 the block after the last.
delete from collab_store.past_memberships
where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid and removed_at < $1
