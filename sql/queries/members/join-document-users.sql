-- Adds members, and restores former ones, whose earlier stay is kept.
-- Params: $1 keys, $2 userIds, $3 at.
with new as (
  select * from unnest($1::int[], $2::text[]) as n (document_key, user_id)
), kept as (
  insert into collab_store.past_memberships (document_key, user_id, joined_at, removed_at)
  select m.document_key, m.user_id, m.joined_at, m.removed_at
  from new join collab_store.document_users m using (document_key, user_id)
  where m.removed_at is not null
)
insert into collab_store.document_users as m (document_key, user_id, first_seen_at, joined_at)
select document_key, user_id, $3, $3 from new
on conflict (document_key, user_id) do update set joined_at = greatest(m.removed_at, $3), removed_at = null where m.removed_at is not null
