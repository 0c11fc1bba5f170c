-- Stores the definitions from the settings. If the field with the writing time, the time zone of days, or what is not
-- stored changes, responses in progress are discarded and fetched again. After the first two, stored comments have to
-- be recomputed.
-- Params: $1 freshnessPromiseS, $2 writtenMember?, $3 reportTimeZone, $4 refreshBudget?, $5 changeTargetS, $6 privacyEmail,
-- $7 privacyRaw, $8 privacyExclude?, $9 operations.
with now_other as (
  select (written_member, report_time_zone) is distinct from ($2, $3) as is_other,
    (privacy_email, privacy_raw, privacy_exclude) is distinct from ($6, $7, $8) as is_other_privacy
  from collab_store.definitions for update
), superseded as (
  update collab_store.batches b set version = nextval('sync.claim_no') from now_other o
  where o.is_other_privacy or (o.is_other and b.operation = 'comments')
)
update collab_store.definitions d
set freshness_promise = make_interval(secs => $1), written_member = $2, report_time_zone = $3,
  refresh_budget = $4, change_target = make_interval(secs => $5), privacy_email = $6, privacy_raw = $7, privacy_exclude = $8,
  operations = $9,
  written_members_before = case when o.is_other
    then array_remove(coalesce(d.written_members_before, '{}') || d.written_member, null) else d.written_members_before end
from now_other o
where o.is_other or o.is_other_privacy or (d.freshness_promise, d.refresh_budget, d.change_target, d.operations)
  is distinct from (make_interval(secs => $1), $4, make_interval(secs => $5), $9)
