-- Up Migration
-- Days and weeks of reports in the time zone of those who read them. The day of a comment is filled in by it (0016), so that
-- the views stay as they are; `collab-sync migrate` finds the days anew, as it finds the time of writing.

alter table collab_store.definitions
  add column report_time_zone text not null default 'UTC' check (timestamptz 'epoch' at time zone report_time_zone is not null);
comment on column collab_store.definitions.report_time_zone is 'REPORT_TZ: time zone of the days and weeks of reports.';
comment on column collab_store.definitions.written_members_before is 'Not null while stored comments are still to be looked at for when they were written, and on which day: the members by which some may have their time. `migrate` does it.';

comment on column collab_store.comments.day is 'Day in the time zone of reports (REPORT_TZ) on which it was written, as collab.comments.written_at tells it.';
comment on view reporting.comment_activity_daily is 'Comments by organization and the day (REPORT_TZ) on which they were written; live comments only. reporting.comment_activity_daily_in() takes any time zone.';
comment on column reporting.comment_activity_daily.day is 'Day in REPORT_TZ (UTC where it is not set) on which the comments were written (written_at of reporting.comments): an edit moves none. Null where the service gave no time.';
comment on column reporting.author_activity.week is 'The Monday (REPORT_TZ, UTC where it is not set) on which the week begins in which the comments were written (written_at of reporting.comments): an edit moves none. Null where the service gave no time.';

create function reporting.comment_activity_daily_in(time_zone text)
returns table (organization_id text, day date, comments bigint, authors bigint, annotations bigint)
language sql stable
as $$
  select c.organization_id, (c.written_at at time zone time_zone)::date, count(*), count(distinct c.author_user_id collate "C"),
    count(distinct (c.document_id, c.annotation_id))
  from reporting.comments c
  group by 1, 2
$$;
comment on function reporting.comment_activity_daily_in(text) is 'reporting.comment_activity_daily by the days of any time zone, such as ''Europe/Berlin''. It reads the comments themselves: narrow it to an organization where there are millions.';

create function reporting.author_activity_in(time_zone text)
returns table (organization_id text, week date, author_user_id text, author_name text, comments bigint, annotations bigint)
language sql stable
as $$
  select c.organization_id, date_trunc('week', c.written_at at time zone time_zone)::date, c.author_user_id, min(u.name), count(*),
    count(distinct (c.document_id, c.annotation_id))
  from reporting.comments c
  left join collab.users u on u.organization_id = c.organization_id and u.user_id = c.author_user_id
  group by 1, 2, 3
$$;
comment on function reporting.author_activity_in(text) is 'reporting.author_activity by the weeks of any time zone, as reporting.comment_activity_daily_in().';
