-- All versions of the comment whose text was edited last, preferably in English. The first 60 characters differ, because reports show no more.
-- Params: none.
-- Never null: version, change, valid_from.
-- Typed as: change collab_store.comment_versions.change.
select version, change, valid_from, status, comment_text
from collab.comment_versions
where (organization_id, document_id, annotation_id, comment_id) = (
  select organization_id, document_id, annotation_id, comment_id
  from collab.comment_versions edited
  join collab.comment_versions before using (organization_id, document_id, annotation_id, comment_id)
  cross join lateral (select before.comment_text || edited.comment_text as texts) both_texts
  where edited.change = 'edited' and before.version = edited.version - 1
    and left(before.comment_text, 60) <> left(edited.comment_text, 60)
  order by octet_length(texts) = length(texts) desc, edited.valid_from desc, edited.version desc,
    organization_id, document_id, annotation_id, comment_id
  limit 1
)
order by version
