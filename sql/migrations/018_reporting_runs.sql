-- Up Migration
-- Answers for analysts: when runs read the service, and what failed. Texts of the service, of people and of programs stay out:
-- the scope of a run may name users, its problem may repeat a message of the service.

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
