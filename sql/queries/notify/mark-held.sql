-- Marks listings as reported that runs have held which are over by now, and that wait for a person.
-- Params: none.
-- Never null: listings, users_missing, first[].
with reported as (
  update sync.held h
  set told_at = now()
  from sync.runs r
  where r.run_id = h.run_id and r.finished_at is not null and h.resolved_at is null and h.told_at is null
  returning h.held_id, h.run_id, h.kind, h.organization_id, h.document_id, h.organization_user_group_id,
    cardinality(h.missing_user_ids) as users_missing
)
select count(*)::int as listings, coalesce(sum(users_missing), 0)::int as users_missing, min(held_id) as first_held_id,
  (array_agg(run_id order by held_id desc))[1] as run_id,
  (array_agg(jsonb_strip_nulls(jsonb_build_object('heldId', held_id, 'kind', kind, 'organizationId', organization_id,
    'documentId', document_id, 'organizationUserGroupId', organization_user_group_id, 'usersMissing', users_missing))
    order by held_id))[1:5] as first
from reported
