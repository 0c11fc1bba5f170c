-- Up Migration
-- Answers for analysts and dashboards: when runs read the service, what failed, and how each night went. Texts of the service,
-- of people and of programs stay out: the scope of a run may name users, its problem may repeat a message of the service.

create view reporting.runs as
select run_id, trigger, status, retry_of, requested_at, started_at, finished_at, calls, retries, scopes_expected,
  scopes_planned, scopes_succeeded, scopes_failed, scopes_held, scopes_skipped, records_received, records_inserted,
  records_updated, records_unchanged, records_rejected, records_null, organizations_done, documents_done, groups_done,
  annotations_done, users_written, users_removed, members_removed, comments_written, comments_deleted, rejected
from sync.runs;
comment on view reporting.runs is 'One row a run, until it is pruned. When was the service read, and how did that end? Counts are 0 until the run is finished, except calls and retries. Key: run_id.';
comment on column reporting.runs.run_id is 'Our id, as status and the logs show it; random.';
comment on column reporting.runs.trigger is 'What started it: schedule (nightly), cli, http, api (a program, through the queue), hint (a change notification), or refresh (continuous refresh of one day, finished after midnight in SYNC_TZ; its scopes are single checks).';
comment on column reporting.runs.status is 'queued, running, then one of: succeeded (everything is stored), partial (some scopes failed or are held, or whole records were rejected; everything else is stored), failed, cancelled.';
comment on column reporting.runs.retry_of is 'The run whose failed scopes this run requests again; null for a run that is no retry.';
comment on column reporting.runs.requested_at is 'When it was requested.';
comment on column reporting.runs.started_at is 'When a worker first worked on it.';
comment on column reporting.runs.finished_at is 'When it finished; null until then.';
comment on column reporting.runs.calls is 'Calls sent to the service, retries included, whatever the response. Written about once a second, also after the run has finished; calls of the last second of a killed worker are missing.';
comment on column reporting.runs.retries is 'Calls that were retries.';
comment on column reporting.runs.scopes_expected is 'Scopes that the catalog had for it when it started: the denominator of its progress.';
comment on column reporting.runs.scopes_planned is 'Scopes that the run consists of.';
comment on column reporting.runs.scopes_succeeded is 'Scopes whose response is stored.';
comment on column reporting.runs.scopes_failed is 'Scopes without a usable response; reporting.run_failures counts them by cause.';
comment on column reporting.runs.scopes_held is 'Scopes whose additions are stored but whose removals wait for a decision: reporting.coverage counts those that still do.';
comment on column reporting.runs.scopes_skipped is 'Scopes that were not requested because the run was stopped or cancelled.';
comment on column reporting.runs.records_received is 'Records in the stored responses, nulls included.';
comment on column reporting.runs.records_inserted is 'Records that made a new row.';
comment on column reporting.runs.records_updated is 'Records that changed a row.';
comment on column reporting.runs.records_unchanged is 'Records that changed nothing.';
comment on column reporting.runs.records_rejected is 'Records that made no row: records that could not be stored, and duplicates within a response.';
comment on column reporting.runs.records_null is 'Nulls in responses to requests by ID.';
comment on column reporting.runs.organizations_done is 'Organizations whose own listing of users was stored.';
comment on column reporting.runs.documents_done is 'Documents whose own listing of users was stored.';
comment on column reporting.runs.groups_done is 'User groups whose listing was stored.';
comment on column reporting.runs.annotations_done is 'Annotations whose comments were stored.';
comment on column reporting.runs.users_written is 'Rows of collab.users that were inserted or updated, those of users_removed included.';
comment on column reporting.runs.users_removed is 'Users who were removed from their organization because its listing no longer contains them. A removal that a person accepts is not counted: see sync.held.';
comment on column reporting.runs.members_removed is 'Memberships of documents and user groups that ended because the listing no longer contains the user. A removal that a person accepts is not counted.';
comment on column reporting.runs.comments_written is 'Rows of collab.comments that were inserted or updated, without deletions.';
comment on column reporting.runs.comments_deleted is 'Comments whose deletion the service confirmed.';
comment on column reporting.runs.rejected is 'Rejected records, and rejected fields of records that were stored without them.';

create view reporting.run_failures as
select f.run_id, f.operation, f.http_status, c.error_status, f.organization_id, count(*) as scopes,
  count(f.resolved_at) as resolved, min(f.at) as first_at, max(f.at) as last_at
from sync.failures f
cross join lateral (
  select case
    when f.error_status is null or f.error_status ~ '^[A-Z][A-Z0-9_]{0,40}$' or f.error_status in (
      'timeout', 'connection', 'unreachable', 'body_cut', 'body_empty', 'body_unreadable', 'body_ambiguous', 'body_too_large',
      'too_many_records', 'no_data', 'error_without_code', 'failed_status', 'redirect', 'throttled', 'breaker_open',
      'could_not_be_processed', 'too_many_rejected', 'answer_does_not_line_up', 'worker_died') then f.error_status
    else 'other' end as error_status
) c
group by 1, 2, 3, 4, 5;
comment on view reporting.run_failures is 'Scopes that failed in a run, counted by cause and organization. What failed, and why?';
comment on column reporting.run_failures.run_id is 'The run: its row in reporting.runs.';
comment on column reporting.run_failures.operation is 'users or comments.';
comment on column reporting.run_failures.http_status is 'HTTP status of the last response; null where there was none.';
comment on column reporting.run_failures.error_status is 'The service''s error code, or a word of collab-sync in lower case such as timeout; other for any other text of the service; null where there was no code.';
comment on column reporting.run_failures.organization_id is 'organizationId of the service: the requested organization.';
comment on column reporting.run_failures.scopes is 'Scopes of the organization that failed with this cause.';
comment on column reporting.run_failures.resolved is 'Scopes among them that have returned a usable response since, in any run.';
comment on column reporting.run_failures.first_at is 'When the first of these scopes failed (our clock).';
comment on column reporting.run_failures.last_at is 'When the last of these scopes failed (our clock).';

create view reporting.nightly as
select n.due_at, r.run_id, r.started_at as begun_at, r.finished_at as ended_at,
  coalesce(r.status,
    case when n.due_at < now() - (select late_after from collab_store.definitions) then 'missed' else 'due' end) as status,
  case when r.status = 'succeeded' and r.scope = '{}' then (
    select min(i.claimed_at) from sync.run_items i where i.run_id = r.run_id and i.kind = 'sync-batch'
  ) end as complete_up_to
from (
  -- Clocks of machines differ: a run that was requested a few seconds early is still the run of that due time.
  select due_at, due_at - interval '30 seconds' as requested_from,
    lead(due_at, 1, 'infinity') over (order by due_at) - interval '30 seconds' as requested_before
  from sync.nightly_due
) n
left join lateral (
  select run_id, status, scope, started_at, finished_at from sync.runs
  where trigger = 'schedule' and requested_at >= n.requested_from and requested_at < n.requested_before
  order by requested_at
  limit 1
) r on true
where n.due_at <= now();
comment on view reporting.nightly is 'One row for each time at which the nightly run was due, until it is pruned. Did last night succeed? A scheduled run belongs to the latest due time before it was requested: a run that starts after several missed nights belongs to the last of them. Empty if no worker keeps the schedule. Key: due_at.';
comment on column reporting.nightly.due_at is 'When the run was due by the schedule that was in force.';
comment on column reporting.nightly.run_id is 'The scheduled run that was started for it: its row in reporting.runs. Null where none was started.';
comment on column reporting.nightly.begun_at is 'When a worker first worked on the run.';
comment on column reporting.nightly.ended_at is 'When the run finished; null until then.';
comment on column reporting.nightly.status is 'Status of the run as in reporting.runs: queued or running while it is under way, then succeeded, partial, failed or cancelled. Without a run: due, and missed after NIGHTLY_LATE_AFTER, also where the run of an earlier night was still under way. A run that starts later replaces missed; a run that someone starts by hand does not.';
comment on column reporting.nightly.complete_up_to is 'The tables contain everything that happened in the service before this time: when the first batch of the run was claimed, which is before any of its calls. Null unless the run succeeded. Also null for a run of users only, as with REFRESH_BUDGET: reporting.freshness has the checks of continuous refresh.';

create view reporting.days as
select t.today - n as day, (t.today - n)::timestamp at time zone t.report_time_zone as begins_at,
  (t.today - n + 1)::timestamp at time zone t.report_time_zone as ends_at
from (select report_time_zone, (now() at time zone report_time_zone)::date as today from collab_store.definitions) t
cross join generate_series(0, 399) n;
comment on view reporting.days is 'The last 400 days in REPORT_TZ, today included. Join it so that charts show days without rows as 0. Key: day.';
comment on column reporting.days.day is 'The date in REPORT_TZ, as in reporting.comment_activity_daily.';
comment on column reporting.days.begins_at is 'First moment of the day.';
comment on column reporting.days.ends_at is 'First moment of the next day. A day on which the clocks change is shorter or longer than 24 hours.';

create view reporting.settings as
select report_time_zone, freshness_promise, change_target,
  left(schedule, -1 - length(schedule_time_zone)) as schedule, schedule_time_zone
from collab_store.definitions;
comment on view reporting.settings is 'The settings that the numbers of reports depend on. Always one row.';
comment on column reporting.settings.report_time_zone is 'REPORT_TZ: time zone of the days and weeks of reports.';
comment on column reporting.settings.freshness_promise is 'FRESHNESS_PROMISE: what was not checked well for longer than this is stale.';
comment on column reporting.settings.change_target is 'CHANGE_TARGET: within which a change should be stored. reporting.change_delay_daily measures it.';
comment on column reporting.settings.schedule is 'Cron expression of the nightly run, as a worker or the command schedule last stored it; null where none is scheduled.';
comment on column reporting.settings.schedule_time_zone is 'Time zone of the cron expression.';
