-- Adds to the log of changes each row whose key holds an id that was renamed. What was renamed itself its trigger has logged.
-- Params: $1 kind, $2 key.
-- Never null: rows.
with annotations as (
  select annotation_key from collab_store.annotations where $1 = 'document' and document_key = $2
  union all
  select $2 where $1 = 'annotation'
), beneath as (
  select 'annotation' as object, annotation_key as key, null::bigint as comment_id, null::text as user_id
  from annotations where $1 = 'document'
  union all
  select 'comment', annotation_key, c.comment_id, null
  from annotations join collab_store.comments c using (annotation_key)
  union all
  select 'document_user', m.document_key, null, m.user_id
  from collab_store.document_users m where $1 = 'document' and m.document_key = $2
  union all
  select 'user_group_member', m.user_group_key, null, m.user_id
  from collab_store.user_group_members m where $1 = 'user_group' and m.user_group_key = $2
), logged as (
  insert into collab_store.changes (object, change, lines, keys, comment_ids, persons)
  select object, 'renamed', count(*), array_agg(key), case object when 'comment' then array_agg(comment_id) end,
    case when object in ('document_user', 'user_group_member')
      then array_agg(collab_store.person_of((select p.salt from sync.privacy p), user_id)) end
  from (select *, (row_number() over (partition by object order by key, comment_id) - 1) / 5000 as part from beneath) b
  group by object, part
  returning lines
)
select coalesce(sum(lines), 0)::integer as rows from logged
