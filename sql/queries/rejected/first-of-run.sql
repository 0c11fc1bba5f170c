-- The first rejected records of a run.
-- Params: $1 run, $2 most records, $3 most characters of each.
select operation, organization_id, document_id, annotation_id, organization_user_group_id, reason,
  left(record, $3) as record, length(record) > $3 as cut
from sync.rejected_records
where run_id = $1
order by rejected_record_id
limit $2
