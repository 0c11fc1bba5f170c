-- Deletes superseded versions of users from some blocks of the table. The current version of each user stays.
-- Params: $1 before, $2 firstBlock, $3 endBlock, $4 isDryRun (counts what would be deleted).
-- Never null: number.
with old as (
  select ctid as place from collab_store.user_versions
  where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid and valid_to < $1
), gone as (
  delete from collab_store.user_versions where not $4::boolean and ctid = any(array(select place from old))
)
select count(*)::int as number from old
