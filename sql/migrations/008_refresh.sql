-- Up Migration
-- Continuous refresh (docs/decisions/2026-11-23-continuous-refresh.md): threads that changed lately are looked at often, in
-- classes by how long they have been quiet; everything else is swept batch by batch, the longest unchecked first. A look that
-- found nothing writes nothing.

create table collab_store.recent_threads (
  annotation_key integer primary key, -- no reference: its check would lock the annotation, for each change that is found
  active_at timestamptz not null,
  written_in xid8 not null default pg_current_xact_id()
) with (fillfactor = 90);
create index recent_threads_active on collab_store.recent_threads (active_at, annotation_key);
comment on table collab_store.recent_threads is 'Annotations that changed within the last eleven days: the ones that refresh looks at more often than at all others. Written when a look finds something, and by nobody where there is no refresh.';
comment on column collab_store.recent_threads.annotation_key is 'Of which annotation, by our key.';
comment on column collab_store.recent_threads.active_at is 'When it last changed, as far as known: lastUpdated of what was found last; the middle of the time between two looks where a change has none. Never in the future.';
comment on column collab_store.recent_threads.written_in is 'The transaction that wrote the row: a pass whose snapshot does not see it has not looked at it as it is.';
comment on index collab_store.recent_threads_active is 'A class is a range of it.';

create table sync.refresh_sweeps (
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
  whole_since timestamptz,
  whole_snapshot xid8
) with (fillfactor = 20);
comment on table sync.refresh_sweeps is 'How far refresh is with each class: 0 to 6 by how long threads have been quiet, 7 everything, batch by batch.';
comment on column sync.refresh_sweeps.class is '0: quiet for less than 4 minutes; each further one four times as long, to 11.4 days; 7: the whole catalog.';
comment on column sync.refresh_sweeps.pass is 'Counts the passes of the class.';
comment on column sync.refresh_sweeps.started_at is 'When this pass began; its edges are counted from then.';
comment on column sync.refresh_sweeps.snapshot is 'The oldest transaction under way when it began: what an older one wrote is what the pass saw.';
comment on column sync.refresh_sweeps.is_planned is 'Whether all of this pass has been handed to workers.';
comment on column sync.refresh_sweeps.after_active_at is 'The cursor: time of the last thread that was handed out.';
comment on column sync.refresh_sweeps.after_key is 'The cursor: key of that thread.';
comment on column sync.refresh_sweeps.before_started_at is 'When the pass before this one began.';
comment on column sync.refresh_sweeps.threads is 'Threads in the class when this pass began; of class 7 the scopes of the catalog.';
comment on column sync.refresh_sweeps.virtual_time is 'Looks so far by the weight of the class: the class with the least goes next.';
comment on column sync.refresh_sweeps.found is 'Looks that found a change, of about the last day: each counts half as much a day later.';
comment on column sync.refresh_sweeps.gap_s is 'Seconds since the look before, added up over the looks of about the last day.';
comment on column sync.refresh_sweeps.learned_at is 'When found and gap_s were last brought up to date.';
comment on column sync.refresh_sweeps.whole_since is 'Begin of the last pass in which each thread was looked at.';
comment on column sync.refresh_sweeps.whole_snapshot is 'The snapshot of that pass.';
insert into sync.refresh_sweeps (class) select generate_series(0, 7);

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
comment on table sync.refresh_pages is 'What workers refresh right now, a row a page; gone when each of its threads was looked at. One whose worker is dead is taken by another.';
comment on column sync.refresh_pages.page_id is 'Our number of the page, drawn when it is handed out.';
comment on column sync.refresh_pages.class is 'As in refresh_sweeps.';
comment on column sync.refresh_pages.pass is 'The pass it belongs to.';
comment on column sync.refresh_pages.pass_started_at is 'When that pass began.';
comment on column sync.refresh_pages.pass_snapshot is 'As in refresh_sweeps.';
comment on column sync.refresh_pages.from_active_at is 'Its threads come after this place, the latest change first ...';
comment on column sync.refresh_pages.from_key is '... and this key;';
comment on column sync.refresh_pages.to_active_at is 'up to this place ...';
comment on column sync.refresh_pages.to_key is '... and this key.';
comment on column sync.refresh_pages.batch_keys is 'Of class 7: the batches.';
comment on column sync.refresh_pages.worker_id is 'The worker that has it in hand; null where one gave it back.';
comment on column sync.refresh_pages.claimed_at is 'When that worker took it.';

create table sync.refresh_hours (
  hour timestamptz not null,
  class smallint not null,
  looks bigint not null default 0,
  calls bigint not null default 0,
  found bigint not null default 0,
  failed bigint not null default 0,
  primary key (hour, class)
) with (fillfactor = 50);
comment on table sync.refresh_hours is 'What refresh did, a row an hour and class. The looks of the last page of a worker that was killed are missing.';
comment on column sync.refresh_hours.hour is 'Begin of the hour.';
comment on column sync.refresh_hours.class is 'As in refresh_sweeps; 8 for hints.';
comment on column sync.refresh_hours.looks is 'Scopes that were asked for.';
comment on column sync.refresh_hours.calls is 'Calls sent for them: further tries, and questions by id, included.';
comment on column sync.refresh_hours.found is 'Looks that found a change.';
comment on column sync.refresh_hours.failed is 'Looks without a usable answer.';

create table sync.refresh_state (
  only_row boolean primary key default true check (only_row),
  paused_since timestamptz,
  paused_until timestamptz,
  reason text
);
comment on table sync.refresh_state is 'Whether refresh is paused, and why.';
comment on column sync.refresh_state.only_row is 'There is just one row.';
comment on column sync.refresh_state.paused_since is 'Since when it has been paused, or only tries whether it can go on; null where it goes on.';
comment on column sync.refresh_state.paused_until is 'When it is tried again.';
comment on column sync.refresh_state.reason is 'Why, in a sentence.';
insert into sync.refresh_state default values;

create table sync.hints (
  annotation_key integer primary key references collab_store.annotations on delete cascade,
  hinted_at timestamptz not null default clock_timestamp(),
  claimed_at timestamptz,
  worker_id text
) with (fillfactor = 50);
comment on table sync.hints is 'Annotations of which somebody said that they changed, and that were not looked at since. Only with continuous refresh: without it a hint is a narrowed run.';
comment on column sync.hints.annotation_key is 'What changed: the annotation, by our key; hinted once until it is looked at.';
comment on column sync.hints.hinted_at is 'When it was last said; one that is not claimed yet is not written again.';
comment on column sync.hints.claimed_at is 'When a worker took it: what is said after that needs another look.';
comment on column sync.hints.worker_id is 'That worker.';

-- A thread that was looked at and had not changed writes nothing. That it was looked at is known all the same: a pass of its
-- class that is whole has looked at each thread that was in the class when it began. So the time of check of a thread that
-- changed lately is the begin of that pass, where it is later than its own or its batch's.
create view collab_store.swept_threads as
select h.annotation_key, max(s.whole_since) as swept_at
from collab_store.recent_threads h
join collab_store.annotations x using (annotation_key)
join sync.refresh_sweeps s on s.class < 7
  and h.active_at > s.whole_since - make_interval(secs => 240 * 4 ^ s.class)
  and h.active_at <= s.whole_since - case when s.class = 0 then interval '0' else make_interval(secs => 240 * 4 ^ (s.class - 1)) end
  and h.written_in < s.whole_snapshot
where x.failing_since is null and x.own_checked_at is distinct from '-infinity'
group by 1;
comment on view collab_store.swept_threads is 'When a pass began that has looked at a thread of collab_store.recent_threads as it is stored. One that changed since then, or whose last look failed, is in no pass.';
comment on column collab_store.swept_threads.annotation_key is 'As in recent_threads.';
comment on column collab_store.swept_threads.swept_at is 'Begin of the latest such pass: no later than the look.';
