-- Creates a notification with a delivery for each receiver; no row if it exists already.
-- Params: $1 thing, $2 kind, $3 subject?, $4 runId?, $5 facts, $6 receivers.
with noted as (
  insert into sync.notifications (thing, kind, subject, run_id, facts)
  values ($1, $2, $3, $4, $5)
  on conflict (thing) do nothing
  returning notification_id
)
insert into sync.notification_deliveries (notification_id, receiver)
select n.notification_id, r.receiver
from noted n cross join unnest($6::text[]) as r (receiver)
