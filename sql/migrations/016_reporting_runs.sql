-- Runs for analysts and dashboards: when runs read the service, what failed, and the result of each night. Texts
-- written by the service, users or programs are excluded: the scope of a run may name users, and its problem may
-- quote a message of the service.

create view reporting.runs as
select run_id, trigger, status, retry_of, requested_at, started_at, finished_at, calls, retries, scopes_expected,
  scopes_planned, scopes_succeeded, scopes_failed, scopes_held, scopes_skipped, records_received, records_inserted,
  records_updated, records_unchanged, records_rejected, records_null, organizations_done, documents_done, groups_done,
  annotations_done, users_written, users_removed, members_removed, comments_written, comments_deleted, rejected
from sync.runs;
comment on view reporting.runs is 'One row per run, until it is pruned. Counts are 0 until the run finishes, except calls and retries. Key: run_id.';
comment on column reporting.runs.run_id is 'Random ID, as shown by status and the logs.';
comment on column reporting.runs.trigger is 'What started it: schedule (nightly), cli, http, api (a program, through the queue), hint (a change notification), or refresh (continuous refresh of one day; its scopes are single checks).';
comment on column reporting.runs.status is 'queued, running, or the result: succeeded (everything was written), partial (some scopes failed or are held, or whole records were rejected; everything else was written), failed, cancelled.';
comment on column reporting.runs.retry_of is 'The run whose failed scopes this run retries; null if none.';
comment on column reporting.runs.requested_at is 'When it was requested.';
comment on column reporting.runs.started_at is 'When a worker first processed it.';
comment on column reporting.runs.finished_at is 'When it finished; null until then.';
comment on column reporting.runs.calls is 'Calls sent to the service, including retries and failed calls. Updated about every second, also after the run; the last second of a killed worker is missing.';
comment on column reporting.runs.retries is 'Calls that were retries.';
comment on column reporting.runs.scopes_expected is 'Scopes in the catalog when the run started, the denominator of its progress.';
comment on column reporting.runs.scopes_planned is 'Scopes of the run.';
comment on column reporting.runs.scopes_succeeded is 'Scopes whose response was stored.';
comment on column reporting.runs.scopes_failed is 'Scopes without a usable response. reporting.run_failures counts them by cause.';
comment on column reporting.runs.scopes_held is 'Scopes whose additions were stored but whose removals needed approval.';
comment on column reporting.runs.scopes_skipped is 'Scopes not fetched because the run was stopped or cancelled.';
comment on column reporting.runs.records_received is 'Records in the stored responses, including nulls.';
comment on column reporting.runs.records_inserted is 'Records that created a row.';
comment on column reporting.runs.records_updated is 'Records that changed a row.';
comment on column reporting.runs.records_unchanged is 'Records that changed nothing.';
comment on column reporting.runs.records_rejected is 'Records that created no row: not storable, or duplicates within a response.';
comment on column reporting.runs.records_null is 'Nulls in responses to requests by ID.';
comment on column reporting.runs.organizations_done is 'Organizations whose own user listing was stored.';
comment on column reporting.runs.documents_done is 'Documents whose user listing was stored.';
comment on column reporting.runs.groups_done is 'User groups whose user listing was stored.';
comment on column reporting.runs.annotations_done is 'Annotations whose comments were stored.';
comment on column reporting.runs.users_written is 'Rows of collab.users inserted or updated, including users_removed.';
comment on column reporting.runs.users_removed is 'Users removed because their organization''s listing no longer contained them, without removals that an operator approved.';
comment on column reporting.runs.members_removed is 'Memberships that ended because the listing of the document or user group no longer contained the user, without removals that an operator approved.';
comment on column reporting.runs.comments_written is 'Rows of collab.comments inserted or updated, without deletions.';
comment on column reporting.runs.comments_deleted is 'Comments whose deletion the service confirmed.';
comment on column reporting.runs.rejected is 'Rejected records, and rejected fields of records that were stored without them.';

create view reporting.run_failures as
select f.run_id, f.operation, f.http_status, c.error_status, f.organization_id, count(*) as scopes,
  count(f.resolved_at) as resolved, min(f.at) as first_at, max(f.at) as last_at
from sync.failures f
cross join lateral (
  select case
    when f.error_status is null or f.error_status ~ '^[A-Z][A-Z0-9_]{0,40}$' or f.error_status in (
      'timeout', 'connection', 'unreachable', 'body_cut', 'body_empty', 'body_unreadable', 'body_not_utf8', 'web_page',
      'body_ambiguous', 'body_too_large', 'headers_too_large', 'too_many_records', 'no_data', 'error_without_code',
      'failed_status', 'redirect', 'throttled', 'breaker_open', 'could_not_be_processed', 'too_many_rejected',
      'answer_does_not_line_up', 'worker_died') then f.error_status
    else 'other' end as error_status
) c
group by 1, 2, 3, 4, 5;
comment on view reporting.run_failures is 'Failed scopes of a run, counted by cause and organization.';
comment on column reporting.run_failures.run_id is 'The run, as in reporting.runs.';
comment on column reporting.run_failures.operation is 'The read operation, such as users or comments.';
comment on column reporting.run_failures.http_status is 'HTTP status of the last response; null if there was none.';
comment on column reporting.run_failures.error_status is 'The service''s error code, or one of collab-sync in lower case, such as timeout; other for other texts; null if none.';
comment on column reporting.run_failures.organization_id is 'The service''s organizationId.';
comment on column reporting.run_failures.scopes is 'Scopes of the organization that failed with this cause.';
comment on column reporting.run_failures.resolved is 'Scopes among them with a usable response since, in any run.';
comment on column reporting.run_failures.first_at is 'When the first of these scopes failed.';
comment on column reporting.run_failures.last_at is 'When the last of these scopes failed.';

create view sync.nights as
select n.due_at, n.due_at + d.late_after as late_at, d.late_after + greatest(n.due_at, (
    select max(p.paused_until) from sync.pauses p
    where p.paused_at < n.due_at + d.late_after and p.paused_until > n.due_at
  )) as missed_at
from sync.nightly_due n
cross join collab_store.definitions d;
comment on view sync.nights is 'Due times of the nightly run, and when a night without a run is missed. Key: due_at.';
comment on column sync.nights.due_at is 'As in sync.nightly_due.';
comment on column sync.nights.late_at is 'due_at plus NIGHTLY_LATE_AFTER.';
comment on column sync.nights.missed_at is 'late_at, or NIGHTLY_LATE_AFTER after the end of a pause that a user ordered before late_at.';

create view sync.complete_runs as
select r.run_id, (
    select min(i.claimed_at) from sync.run_items i where i.run_id = r.run_id and i.kind = 'sync-batch'
  ) as complete_up_to
from sync.runs r
where r.status = 'succeeded' and r.scope = '{}' and r.retry_of is null and not r.failing;
comment on view sync.complete_runs is 'Runs of the whole catalog that succeeded. Key: run_id.';
comment on column sync.complete_runs.run_id is 'As in reporting.runs.';
comment on column sync.complete_runs.complete_up_to is 'As in reporting.nightly.';

create view reporting.nightly as
select n.due_at, r.run_id, r.started_at, r.finished_at,
  coalesce(r.status, case
    when n.missed_at > n.late_at and (n.missed_at >= now() or n.requested_before < now()) then 'paused'
    when n.missed_at < now() then 'missed'
    else 'due' end) as status,
  (select c.complete_up_to from sync.complete_runs c where c.run_id = r.run_id) as complete_up_to,
  coalesce(r.finished_at, now()) - r.started_at as duration, r.calls
from (
  -- The clocks of machines differ, so a run that was requested a few seconds early still belongs to that due time.
  select *, due_at - interval '30 seconds' as requested_from,
    lead(due_at, 1, 'infinity') over (order by due_at) - interval '30 seconds' as requested_before
  from sync.nights
) n
left join lateral (
  select run_id, status, started_at, finished_at, calls from sync.runs
  where trigger = 'schedule' and requested_at >= n.requested_from and requested_at < n.requested_before
  order by requested_at
  limit 1
) r on true
where n.due_at <= now();
comment on view reporting.nightly is 'One row per due time of the nightly run, until it is pruned. A scheduled run belongs to the latest due time before it was requested, even if it starts after several missed nights. Empty if no worker keeps the schedule. Key: due_at.';
comment on column reporting.nightly.due_at is 'When the run was due.';
comment on column reporting.nightly.run_id is 'The scheduled run started for it; null if none was started.';
comment on column reporting.nightly.started_at is 'When a worker first processed the run.';
comment on column reporting.nightly.finished_at is 'When the run finished; null until then.';
comment on column reporting.nightly.status is 'As in reporting.runs. Without a run: due, and after NIGHTLY_LATE_AFTER missed, even if an earlier run is still in progress; paused if a user paused the calls before then. The last of the paused nights is made up for when the pause ends. A scheduled run that starts later replaces missed; a manual run does not.';
comment on column reporting.nightly.complete_up_to is 'The tables contain everything that happened in the service before this time, when the first batch was claimed. Null unless the run succeeded, and for a run of users only, as with REFRESH_BUDGET.';
comment on column reporting.nightly.duration is 'From started_at to finished_at, or until now while the run is in progress; null before it started.';
comment on column reporting.nightly.calls is 'As in reporting.runs. Null without a run.';

create view reporting.days as
select t.today - n as day, (t.today - n)::timestamp at time zone t.report_time_zone as begins_at,
  (t.today - n + 1)::timestamp at time zone t.report_time_zone as ends_at
from (select report_time_zone, (now() at time zone report_time_zone)::date as today from collab_store.definitions) t
cross join generate_series(0, 399) n;
comment on view reporting.days is 'The last 400 days in REPORT_TZ, including today. Join it so that charts show days without rows as 0. Key: day.';
comment on column reporting.days.day is 'The date in REPORT_TZ.';
comment on column reporting.days.begins_at is 'First moment of the day.';
comment on column reporting.days.ends_at is 'First moment of the next day, not always 24 hours later.';

create view reporting.settings as
select report_time_zone, freshness_promise, change_target,
  left(schedule, -1 - length(schedule_time_zone)) as schedule, schedule_time_zone
from collab_store.definitions;
comment on view reporting.settings is 'The settings that reports depend on. Always one row.';
comment on column reporting.settings.report_time_zone is 'REPORT_TZ: time zone of days and weeks in reports.';
comment on column reporting.settings.freshness_promise is 'FRESHNESS_PROMISE: data not checked successfully for longer is stale.';
comment on column reporting.settings.change_target is 'CHANGE_TARGET: time within which a change should be stored.';
comment on column reporting.settings.schedule is 'Cron expression of the nightly run; null if none is scheduled.';
comment on column reporting.settings.schedule_time_zone is 'Time zone of the cron expression.';
