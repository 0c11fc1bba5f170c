-- The first rejected records of a run.
-- Params: $1 runId, $2 limit, $3 mostCharacters.
-- Never null: rejected_record_id, operation, reason, record, cut, is_whole.
-- Typed as: operation collab_store.batches.operation.
select r.rejected_record_id, r.operation, r.organization_id, r.document_id, r.annotation_id, r.organization_user_group_id,
  r.reason, left(r.record, $3) as record, length(r.record) > $3 as cut, coalesce(r.is_whole, false) as is_whole, s.set_aside_at
from sync.rejected_records r
left join sync.set_aside_records s using (digest)
where r.run_id = $1
order by r.rejected_record_id
limit $2
