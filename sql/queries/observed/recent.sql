-- Field changes of the last week, newest first.
-- Params: $1 limit.
-- Never null: member.
select object, collab_store.member_of(path) as member, change, types, noticed_at
from sync.member_changes
where noticed_at > now() - interval '7 days'
order by number desc
limit $1
