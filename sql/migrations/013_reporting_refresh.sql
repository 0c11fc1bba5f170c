-- What continuous refresh does, by class, and how long it takes until changes are stored. The delay is measured from
-- the comments themselves, whichever check found them.

create view reporting.refresh_classes as
select s.class::integer as class, e.quiet_from, e.quiet_to, n.scopes,
  coalesce(h.polls, 0)::bigint as polls, coalesce(h.calls, 0)::bigint as calls, coalesce(h.found, 0)::bigint as found,
  coalesce(h.failed, 0)::bigint as failed,
  round(h.polls / nullif(sum(h.polls) over (), 0), 4) as share,
  case when s.class < 7 then s.started_at - s.before_started_at else now() - n.checked_at end as polled_every,
  case when s.class < 7 then s.last_full_pass else n.checked_at end as last_full_pass
from sync.refresh_passes s
join collab_store.definitions d on d.refresh_budget is not null
cross join lateral (
  select case when s.class = 0 then interval '0' when s.class < 7 then interval '4 minutes' * 4 ^ (s.class - 1) end as quiet_from,
    case when s.class < 7 then interval '4 minutes' * 4 ^ s.class end as quiet_to
) e
cross join lateral (
  select count(*) as scopes, null::timestamptz as checked_at
  from collab_store.recent_threads r
  where s.class < 7 and r.active_at > now() - e.quiet_to and (s.class = 0 or r.active_at <= now() - e.quiet_from)
  having s.class < 7
  union all
  select coalesce(sum(b.scopes), 0)::bigint, case when bool_and(b.checked_at is not null) then min(b.checked_at) end
  from collab_store.batches b
  join collab_store.organizations o using (organization_key)
  where s.class = 7 and o.active and b.scopes > 0
  having s.class = 7
) n
left join (
  select class, sum(polls) as polls, sum(calls) as calls, sum(found) as found, sum(failed) as failed
  from sync.refresh_hours
  where hour > now() - interval '24 hours'
  group by class
) h using (class);
comment on view reporting.refresh_classes is 'Continuous refresh by class: number of annotations, how often they are checked, and the results of the last day, without checks requested by hints. Empty if REFRESH_BUDGET is not set.';
comment on column reporting.refresh_classes.class is '0 to 6: annotations by time since their last change. 7: all scopes, least recently checked first.';
comment on column reporting.refresh_classes.quiet_from is 'Minimum time since the last change of its annotations; null for class 7.';
comment on column reporting.refresh_classes.quiet_to is 'Maximum time since the last change, exclusive; null for class 7.';
comment on column reporting.refresh_classes.scopes is 'Annotations in the class now; for class 7, all scopes of the catalog.';
comment on column reporting.refresh_classes.polls is 'Scopes fetched in the last 24 hours, counted by whole hours.';
comment on column reporting.refresh_classes.calls is 'Calls sent for them, including retries and requests by ID.';
comment on column reporting.refresh_classes.found is 'Scopes among them that had changed.';
comment on column reporting.refresh_classes.failed is 'Scopes among them without a usable response.';
comment on column reporting.refresh_classes.share is 'Fraction of the polls of all classes; null if there were none.';
comment on column reporting.refresh_classes.polled_every is 'Time between the starts of the last two passes; for class 7, age of the oldest check of a batch. Null if unknown.';
comment on column reporting.refresh_classes.last_full_pass is 'Start of the last pass that checked every annotation; for class 7, the oldest check. Null if none.';

-- Three indexes find the changes of a day: comments by the day of writing, edits by lastUpdated, and changes without
-- a time by when they were received. Each day is selected separately, so that `where day` does not read the others.
create view reporting.change_delay_daily as
select o.organization_id, x.day, n.changes, n.undated, round(n.undated::numeric / n.changes, 4) as undated_share,
  n.p50_seconds, n.p95_seconds, n.mean_seconds, n.within_target,
  round(n.within_target::numeric / nullif(n.changes - n.undated, 0), 4) as within_target_share,
  d.day_end <= (select stale_before from collab_store.promise) as is_final
from unnest(array(
  select (now() at time zone f.report_time_zone)::date - n from collab_store.definitions f cross join generate_series(-1, 400) n
)) x (day)
cross join lateral (
  select x.day, x.day::timestamp at time zone f.report_time_zone as day_start,
    (x.day + 1)::timestamp at time zone f.report_time_zone as day_end, f.change_target
  from collab_store.definitions f
) d
cross join lateral (
  select c.organization_key, count(*) as changes, count(*) filter (where c.seconds is null) as undated,
    round((percentile_cont(0.5) within group (order by c.seconds))::numeric, 3) as p50_seconds,
    round((percentile_cont(0.95) within group (order by c.seconds))::numeric, 3) as p95_seconds,
    round(avg(c.seconds), 3) as mean_seconds,
    count(*) filter (where c.seconds <= extract(epoch from d.change_target)) as within_target
  from (
    select a.organization_key, greatest(0, extract(epoch from a.first_seen_at
      - collab_store.written_at(a.written_at, a.first_updated, a.last_updated)))::numeric as seconds
    from collab_store.comments a
    where a.day = d.day and a.not_before is not null
    union all
    select e.organization_key, greatest(0, extract(epoch from e.version_at - e.last_updated))::numeric
    from collab_store.comments e
    join collab_store.comment_versions b on b.annotation_key = e.annotation_key and b.comment_id = e.comment_id and b.version = e.version - 1
    -- No version is received a day before its time, whatever the clocks.
    where e.version > 1 and e.version_at > d.day_start - interval '1 day'
      and e.change <> 'deleted' and e.last_updated >= d.day_start and e.last_updated < d.day_end
      and (b.last_updated < e.last_updated or b.last_updated is null)
    union all
    select e.organization_key, null
    from collab_store.comments e
    left join collab_store.comment_versions b
      on b.annotation_key = e.annotation_key and b.comment_id = e.comment_id and b.version = e.version - 1
    where e.version > 1 and e.version_at >= d.day_start and e.version_at < d.day_end
      and (e.change = 'deleted' or b.version is null or e.last_updated is null or b.last_updated >= e.last_updated)
    union all
    select c.organization_key, case when k.is_dated then greatest(0, extract(epoch from v.valid_from - v.last_updated)) end::numeric
    from collab_store.comment_versions v
    join collab_store.comments c on c.annotation_key = v.annotation_key and c.comment_id = v.comment_id
    left join collab_store.comment_versions b
      on b.annotation_key = v.annotation_key and b.comment_id = v.comment_id and b.version = v.version - 1
    cross join lateral (select v.change <> 'deleted' and b.version is not null and v.last_updated is not null
      and coalesce(b.last_updated < v.last_updated, true) as is_dated) k
    where v.version > 1 and v.valid_from > d.day_start - interval '1 day'
      and case when k.is_dated then v.last_updated else v.valid_from end >= d.day_start
      and case when k.is_dated then v.last_updated else v.valid_from end < d.day_end
  ) c
  group by grouping sets ((c.organization_key), ())
  having count(*) > 0
) n
left join collab_store.organizations o using (organization_key);
comment on view reporting.change_delay_daily is 'Delay until changes of comments were stored, by day (REPORT_TZ) and organization, and for all visible organizations together. It runs from written_at (new comments) or lastUpdated (edits) to the check that found the change. Covers 400 days; filter by day, and only these days are read. Excludes comments found by the first check of a thread, comments without a time, and all but the last of several edits between two checks.';
comment on column reporting.change_delay_daily.organization_id is 'The service''s organizationId; null for all organizations together.';
comment on column reporting.change_delay_daily.day is 'Day (REPORT_TZ) of the change; for undated changes, the day on which they were found.';
comment on column reporting.change_delay_daily.changes is 'Comments added, edited, deleted or restored, as found so far.';
comment on column reporting.change_delay_daily.undated is 'Changes without a time from the service: deletions, and edits that kept lastUpdated. The following columns exclude them.';
comment on column reporting.change_delay_daily.undated_share is 'undated divided by changes.';
comment on column reporting.change_delay_daily.p50_seconds is 'Median delay in seconds; this and the next two are null if all changes are undated.';
comment on column reporting.change_delay_daily.p95_seconds is '95th percentile of the delay in seconds.';
comment on column reporting.change_delay_daily.mean_seconds is 'Mean delay in seconds, where negative delays count as 0.';
comment on column reporting.change_delay_daily.within_target is 'Changes found within CHANGE_TARGET.';
comment on column reporting.change_delay_daily.within_target_share is 'Fraction of the dated changes found within CHANGE_TARGET.';
comment on column reporting.change_delay_daily.is_final is 'True if the day ended longer ago than FRESHNESS_PROMISE; before, slow changes may be missing.';
