-- All versions of the most recently changed comment.
-- Params: none.
-- Never null: version, change, valid_from.
-- Typed as: change collab_store.comment_versions.change.
select version, change, valid_from, status, comment_text
from collab.comment_versions
where (organization_id, document_id, annotation_id, comment_id) = (
  select organization_id, document_id, annotation_id, comment_id
  from collab.comment_versions
  where change = 'edited'
  order by valid_from desc, version desc, organization_id, document_id, annotation_id, comment_id
  limit 1
)
order by version
