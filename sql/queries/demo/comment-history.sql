-- Every version of the comment that was changed most lately.
-- Params: none.
-- Never null: version, change, valid_from.
-- Typed as: change collab_store.comment_versions.change.
select v.version, v.change, v.valid_from, v.status, v.comment_text, v.organization_id, v.document_id, v.annotation_id,
  v.comment_id
from collab.comment_versions v
join (
  select organization_id, document_id, annotation_id, comment_id
  from collab.comment_versions
  where change = 'edited'
  order by valid_from desc, version desc, organization_id, document_id, annotation_id, comment_id
  limit 1
) newest using (organization_id, document_id, annotation_id, comment_id)
order by v.version
