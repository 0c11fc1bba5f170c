-- Deletes past stays in documents and user groups from some blocks of the table. The current or last stay is kept.
-- Params: $1 before, $2 firstBlock, $3 endBlock.
delete from collab_store.past_memberships
where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid and removed_at < $1
