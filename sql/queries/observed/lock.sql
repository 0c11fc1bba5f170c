-- Whether the caller is the one transaction that may write observed members.
-- Params: none.
-- Never null: is_locked.
select count(*) = (select count(*) from collab_store.observed_records) as is_locked
from (select from collab_store.observed_records order by object for update skip locked) r
