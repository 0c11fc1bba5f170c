-- Has answers that were asked under the old id thrown away and asked for again: of a document also those of its annotations.
-- Waits for commits under way, comments first: whoever commits them locks the organization's first users batch last.
-- Params: $1 kind, $2 key.
with locked as (
  select b.batch_key
  from collab_store.batches b
  where b.batch_key in (
    select d.batch_key from collab_store.documents d where $1 = 'document' and d.document_key = $2
    union
    select a.batch_key from collab_store.annotations a where $1 = 'document' and a.document_key = $2
    union
    select a.batch_key from collab_store.annotations a where $1 = 'annotation' and a.annotation_key = $2
    union
    select g.batch_key from collab_store.user_groups g where $1 = 'user_group' and g.user_group_key = $2
  )
  order by b.operation, b.batch_key
  for no key update
)
update collab_store.batches b
set version = nextval('sync.claim_no')
from locked l
where b.batch_key = l.batch_key
