-- Up Migration
-- What a month of history is found by: pages of comments by when their versions were first seen. Comments that never changed
-- lie in the order in which checks found them, and this index holds them alone. An edited comment stays where it is, and
-- its new version's time would stretch its pages' range to today, until the index excludes nothing; edited ones have an
-- index of their own (comments_changed), so the history asks for each by itself.

drop index collab_store.comments_noticed;
create index comments_noticed on collab_store.comments using brin (version_at) with (pages_per_range = 64, autosummarize = on)
  where version = 1;

create or replace view reporting.comment_history as
select o.organization_id, d.document_id, a.annotation_id, v.comment_id, v.version, v.change,
  c.author_user_id, coalesce(u.name, c.author_name) as author_name, v.comment_text, v.status, v.type, v.last_updated,
  v.valid_from, v.valid_to
from collab_store.comment_versions v
join collab_store.comments c on c.annotation_key = v.annotation_key and c.comment_id = v.comment_id
left join collab_store.annotations a on a.annotation_key = v.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
union all
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.version, c.change,
  c.author_user_id, coalesce(u.name, c.author_name), c.comment_text, c.status, c.type, c.last_updated,
  c.version_at, null
from collab_store.comments c
left join collab_store.annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
where c.version = 1
union all
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.version, c.change,
  c.author_user_id, coalesce(u.name, c.author_name), c.comment_text, c.status, c.type, c.last_updated,
  c.version_at, null
from collab_store.comments c
left join collab_store.annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
where c.version > 1;
