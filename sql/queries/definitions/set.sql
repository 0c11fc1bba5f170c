-- Stores the definitions from the settings. If the field with the writing time or the time zone of days changes,
-- responses in progress are discarded and fetched again, and stored comments have to be recomputed.
-- Params: $1 freshnessPromiseS, $2 writtenMember?, $3 reportTimeZone, $4 refreshBudget?, $5 changeTargetS.
with now_other as (
  select (written_member, report_time_zone) is distinct from ($2, $3) as is_other from collab_store.definitions for update
), superseded as (
  update collab_store.batches b set version = nextval('sync.claim_no') from now_other o where o.is_other and b.operation = 'comments'
)
update collab_store.definitions d
set freshness_promise = make_interval(secs => $1), written_member = $2, report_time_zone = $3,
  refresh_budget = $4, change_target = make_interval(secs => $5),
  written_members_before = case when o.is_other
    then array_remove(coalesce(d.written_members_before, '{}') || d.written_member, null) else d.written_members_before end
from now_other o
where o.is_other or (d.freshness_promise, d.refresh_budget, d.change_target)
  is distinct from (make_interval(secs => $1), $4, make_interval(secs => $5))
