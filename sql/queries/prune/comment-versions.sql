-- Deletes superseded versions of comments from some blocks of the table. The current version of each comment stays.
-- Params: $1 before when, $2 first block, $3 the block after the last.
delete from collab_store.comment_versions
where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid and valid_to < $1
