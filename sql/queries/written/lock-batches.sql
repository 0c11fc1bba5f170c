-- Locks the batches of some annotations for this transaction, as a commit does.
-- Params: $1 firstAnnotation, $2 lastAnnotation.
select batch_key
from collab_store.batches
where batch_key in (select a.batch_key from collab_store.annotations a
  where a.annotation_key between $1 and $2 and a.changed_at is not null)
order by batch_key
for no key update
