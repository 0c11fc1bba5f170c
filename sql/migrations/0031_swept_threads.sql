-- Up Migration
-- A thread that was looked at and had not changed writes nothing. That it was looked at is known all the same: a pass of its
-- class that is whole has looked at each thread that was in the class when it began. So the time of check of a thread that
-- changed lately is the begin of that pass, where it is later than its own or its batch's.

-- It holds keys and times, and nobody but the views reads it.
create policy everybody on collab_store.recent_threads using (true);

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

do $$
declare
  object record;
begin
  for object in
    select c.oid::regclass as name, pg_get_viewdef(c.oid) as definition
    from pg_class c
    where c.relnamespace in ('collab'::regnamespace, 'reporting'::regnamespace) and c.relkind = 'v'
      and pg_get_userbyid(c.relowner) in (current_user, 'collab_views')
      and strpos(pg_get_viewdef(c.oid), 'collab_store.last_good_check(a.own_checked_at, b.checked_at)') > 0
    order by c.oid
  loop
    execute format('create or replace view %s as %s', object.name, replace(object.definition,
      'collab_store.last_good_check(a.own_checked_at, b.checked_at)',
      'greatest(collab_store.last_good_check(a.own_checked_at, b.checked_at),
        (select w.swept_at from collab_store.swept_threads w where w.annotation_key = a.annotation_key))'));
  end loop;
end
$$;

create or replace view collab_store.checks as
select c.organization_key, c.operation, c.scopes, c.checked_at, c.failing_since,
  collab_store.is_stale(c.checked_at, c.failing_since, (select stale_before from collab_store.promise)) as is_stale,
  coalesce(coalesce(c.checked_at, c.failing_since) < (select kept_since from collab_store.promise), false) as is_overdue
from (
  select o.organization_key, b.operation, n.scopes, b.checked_at, null::timestamptz as failing_since
  from collab_store.organizations o
  join collab_store.batches b using (organization_key)
  left join (
    select x.batch_key, count(*) as scopes
    from (
      select batch_key from collab_store.user_groups where own_checked_at is not null and active
      union all
      select batch_key from collab_store.documents where own_checked_at is not null and active
      union all
      select batch_key from collab_store.annotations where own_checked_at is not null and active
      union all
      select a.batch_key
      from collab_store.swept_threads w
      join collab_store.annotations a using (annotation_key)
      join collab_store.batches t on t.batch_key = a.batch_key
      where a.own_checked_at is null and a.active and w.swept_at > t.checked_at
    ) x
    group by x.batch_key
  ) d using (batch_key)
  cross join lateral (
    select b.scopes - coalesce(d.scopes, 0)
      - (b.operation = 'users' and b.batch_no = 0 and o.own_checked_at is not null)::int as scopes
  ) n
  where o.active and n.scopes > 0
  union all
  select o.organization_key, 'users', 1, collab_store.last_good_check(o.own_checked_at, null), o.failing_since
  from collab_store.organizations o
  where o.active and o.own_checked_at is not null
  union all
  select o.organization_key, b.operation, 1, collab_store.last_good_check(x.own_checked_at, null), x.failing_since
  from collab_store.organizations o
  join collab_store.batches b using (organization_key)
  join collab_store.user_groups x using (batch_key)
  where o.active and x.active and x.own_checked_at is not null
  union all
  select o.organization_key, b.operation, 1, collab_store.last_good_check(x.own_checked_at, null), x.failing_since
  from collab_store.organizations o
  join collab_store.batches b using (organization_key)
  join collab_store.documents x using (batch_key)
  where o.active and x.active and x.own_checked_at is not null
  union all
  select o.organization_key, b.operation, 1,
    greatest(collab_store.last_good_check(x.own_checked_at, null),
      (select w.swept_at from collab_store.swept_threads w where w.annotation_key = x.annotation_key)), x.failing_since
  from collab_store.organizations o
  join collab_store.batches b using (organization_key)
  join collab_store.annotations x using (batch_key)
  where o.active and x.active and x.own_checked_at is not null
  union all
  select o.organization_key, b.operation, count(*), w.swept_at, null
  from collab_store.swept_threads w
  join collab_store.annotations x using (annotation_key)
  join collab_store.batches b using (batch_key)
  join collab_store.organizations o using (organization_key)
  where o.active and x.active and x.own_checked_at is null and w.swept_at > b.checked_at
  group by o.organization_key, b.operation, w.swept_at
) c;
