-- Continuous refresh (docs/decisions/2026-11-23-continuous-refresh.md). Threads that changed recently are checked
-- often, in classes by the time since their last change. All other scopes are checked batch by batch, least recently
-- checked first. A check that finds no change writes nothing.

create table collab_store.recent_threads (
  annotation_key integer primary key, -- no reference: its check would lock the annotation for each change found
  batch_key integer not null, -- an annotation never changes its batch
  active_at timestamptz not null,
  written_in xid8 not null default pg_current_xact_id()
) with (fillfactor = 90);
create index recent_threads_active on collab_store.recent_threads (active_at, annotation_key);
comment on table collab_store.recent_threads is 'Annotations that changed within the last eleven days, which continuous refresh checks more often than others. Written when a check finds a change; unused without continuous refresh.';
comment on column collab_store.recent_threads.annotation_key is 'The annotation that changed.';
comment on column collab_store.recent_threads.batch_key is 'Its batch, so that passes are counted without reading annotations.';
comment on column collab_store.recent_threads.active_at is 'When it last changed, as far as known: lastUpdated of the last change found, or the middle of the time between two checks if the change has none. Never in the future.';
comment on column collab_store.recent_threads.written_in is 'Transaction that wrote the row. A pass whose snapshot does not include it has not checked the current state.';
comment on index collab_store.recent_threads_active is 'A class is a range of this index.';

create table sync.refresh_passes (
  class smallint primary key check (class between 0 and 7),
  pass bigint not null default 0,
  started_at timestamptz,
  snapshot xid8,
  is_planned boolean not null default true,
  after_active_at timestamptz,
  after_key integer,
  before_started_at timestamptz,
  threads integer not null default 0,
  virtual_time double precision not null default 0,
  found double precision not null default 0,
  gap_s double precision not null default 0,
  learned_at timestamptz,
  last_full_pass timestamptz,
  whole_snapshot xid8
) with (fillfactor = 20);
comment on table sync.refresh_passes is 'Progress of continuous refresh by class.';
comment on column sync.refresh_passes.class is '0: changed less than 4 minutes ago. Each following class covers four times as long, up to 11.4 days (6). 7: the whole catalog.';
comment on column sync.refresh_passes.pass is 'Number of the current pass.';
comment on column sync.refresh_passes.started_at is 'When this pass began; the class limits are relative to it.';
comment on column sync.refresh_passes.snapshot is 'Oldest open transaction when the pass began. The pass has seen the writes of older ones.';
comment on column sync.refresh_passes.is_planned is 'Whether the whole pass has been assigned to workers.';
comment on column sync.refresh_passes.after_active_at is 'Cursor: active_at of the last thread assigned.';
comment on column sync.refresh_passes.after_key is 'Cursor: key of the last thread assigned.';
comment on column sync.refresh_passes.before_started_at is 'When the previous pass began.';
comment on column sync.refresh_passes.threads is 'Threads, or for class 7 scopes, when this pass began.';
comment on column sync.refresh_passes.virtual_time is 'Checks so far divided by the weight of the class; the lowest class is next.';
comment on column sync.refresh_passes.found is 'Checks that found a change, with a half-life of one day.';
comment on column sync.refresh_passes.gap_s is 'Total seconds between consecutive checks of a thread, with a half-life of one day.';
comment on column sync.refresh_passes.learned_at is 'When found and gap_s were last updated.';
comment on column sync.refresh_passes.last_full_pass is 'Start of the last pass that checked every thread.';
comment on column sync.refresh_passes.whole_snapshot is 'Snapshot of that pass.';
insert into sync.refresh_passes (class) select generate_series(0, 7);

create table sync.refresh_pages (
  page_id bigint generated always as identity primary key,
  class smallint not null,
  pass bigint not null,
  pass_started_at timestamptz,
  pass_snapshot xid8,
  from_active_at timestamptz,
  from_key integer,
  to_active_at timestamptz,
  to_key integer,
  batch_keys integer[],
  worker_id text,
  claimed_at timestamptz not null
);
comment on table sync.refresh_pages is 'Pages that workers are refreshing. If a worker is dead, another one takes over its pages.';
comment on column sync.refresh_pages.page_id is 'Internal number, assigned when the page is handed out.';
comment on column sync.refresh_pages.class is 'As in refresh_passes.';
comment on column sync.refresh_pages.pass is 'Pass of the page.';
comment on column sync.refresh_pages.pass_started_at is 'When that pass began.';
comment on column sync.refresh_pages.pass_snapshot is 'Oldest open transaction when its pass began.';
comment on column sync.refresh_pages.from_active_at is 'Start of its range of threads, exclusive; latest change first.';
comment on column sync.refresh_pages.from_key is 'Key at the start of the range.';
comment on column sync.refresh_pages.to_active_at is 'End of its range of threads, inclusive.';
comment on column sync.refresh_pages.to_key is 'Key at the end of the range.';
comment on column sync.refresh_pages.batch_keys is 'For class 7: the batches.';
comment on column sync.refresh_pages.worker_id is 'The worker that processes it; null if a worker returned it.';
comment on column sync.refresh_pages.claimed_at is 'When that worker claimed it.';

create table sync.refresh_hours (
  hour timestamptz not null,
  class smallint not null,
  polls bigint not null default 0,
  calls bigint not null default 0,
  found bigint not null default 0,
  failed bigint not null default 0,
  primary key (hour, class)
) with (fillfactor = 50);
comment on table sync.refresh_hours is 'Counts of continuous refresh by hour and class, without the last page of a killed worker.';
comment on column sync.refresh_hours.hour is 'Start of the hour.';
comment on column sync.refresh_hours.class is 'As in sync.refresh_passes. 8 for hints.';
comment on column sync.refresh_hours.polls is 'Scopes fetched.';
comment on column sync.refresh_hours.calls is 'Calls sent for them, including retries and requests by ID.';
comment on column sync.refresh_hours.found is 'Checks that found a change.';
comment on column sync.refresh_hours.failed is 'Checks without a usable response.';

create table sync.refresh_state (
  only_row boolean primary key default true check (only_row),
  paused_since timestamptz,
  paused_until timestamptz,
  reason text
);
comment on table sync.refresh_state is 'Whether continuous refresh is paused, and why.';
comment on column sync.refresh_state.only_row is 'Ensures that there is one row.';
comment on column sync.refresh_state.paused_since is 'Since when it has been paused or is only probing; null if it is running.';
comment on column sync.refresh_state.paused_until is 'When it tries again.';
comment on column sync.refresh_state.reason is 'Why it is paused, as one sentence.';
insert into sync.refresh_state default values;

create table sync.hints (
  annotation_key integer primary key references collab_store.annotations on delete cascade,
  hinted_at timestamptz not null default clock_timestamp(),
  claimed_at timestamptz,
  worker_id text
) with (fillfactor = 50);
comment on table sync.hints is 'Annotations reported as changed that continuous refresh has not checked since. Without it, a hint starts a run.';
comment on column sync.hints.annotation_key is 'The annotation. Further hints for it have no effect until it is checked.';
comment on column sync.hints.hinted_at is 'When it was last reported; not updated while the hint is unclaimed.';
comment on column sync.hints.claimed_at is 'When a worker claimed it. A later report needs another check.';
comment on column sync.hints.worker_id is 'That worker.';

-- A check of an unchanged thread writes nothing, but is still known: a complete pass of a class has checked each
-- thread that was in the class when it began. The check time of a recently changed thread is therefore the start of
-- that pass, if later than its own or its batch's time.
create view collab_store.thread_passes as
select h.annotation_key, h.batch_key, s.class, s.last_full_pass as pass_started_at
from collab_store.recent_threads h
join sync.refresh_passes s on s.class < 7
  and h.active_at > s.last_full_pass - make_interval(secs => 240 * 4 ^ s.class)
  and h.active_at <= s.last_full_pass - case when s.class = 0 then interval '0' else make_interval(secs => 240 * 4 ^ (s.class - 1)) end
  and h.written_in < s.whole_snapshot;
comment on view collab_store.thread_passes is 'Complete passes that polled the current state of a thread in collab_store.recent_threads, failed polls included.';
comment on column collab_store.thread_passes.annotation_key is 'As in recent_threads.';
comment on column collab_store.thread_passes.batch_key is 'As in recent_threads.';
comment on column collab_store.thread_passes.class is 'As in sync.refresh_passes.';
comment on column collab_store.thread_passes.pass_started_at is 'Start of the pass; not later than the check.';

create view collab_store.pass_checks as
select p.annotation_key, max(p.pass_started_at) as pass_started_at
from collab_store.thread_passes p
join collab_store.annotations x using (annotation_key)
where x.failing_since is null and x.own_checked_at is distinct from '-infinity'
group by 1;
comment on view collab_store.pass_checks is 'When the latest complete pass began that checked the current state of a thread in collab_store.recent_threads. Threads that changed since or whose last check failed are excluded.';
comment on column collab_store.pass_checks.annotation_key is 'As in recent_threads.';
comment on column collab_store.pass_checks.pass_started_at is 'Start of that pass; not later than the check.';
