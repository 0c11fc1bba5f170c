-- Deletes superseded versions of users from some blocks of the table. The current version of each user stays.
-- Params: $1 before, $2 firstBlock, $3 endBlock.
delete from collab_store.user_versions
where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid and valid_to < $1
