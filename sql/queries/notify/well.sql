-- Marks as well all that was reported of a subject.
-- Params: $1 subject.
with well as (
  update sync.notifications set well_at = now() where subject = $1 and well_at is null returning notification_id
)
select min(notification_id::text) as first_id from well
