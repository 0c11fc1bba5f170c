import { expect, test } from 'vitest'
import { checkDefinitions } from '../../src/cli/doctor/check-database.ts'
import { refreshLines } from '../../src/cli/refresh-details.ts'
import { readFreshness } from '../../src/client/freshness.ts'
import { setDefinitions } from '../../src/core/database/definitions.ts'
import { rolledBack } from '../../src/core/database/pool.ts'
import { FreshnessSchema } from '../../src/schemas/freshness.ts'
import { openLoaded } from '../helpers/live.ts'

const PROMISE = { freshnessPromiseMs: 259_200_000 }

const SCOPES = 'select sum(scopes)::int as scopes from collab_store.batches'

const live = await openLoaded('none')
const { rows: ask } = live
await live.run()

test('where there is no refresh, nothing is said of it', async () => {
  const { pool } = live.database
  expect(await ask('select * from reporting.refresh_classes')).toEqual([])
  expect((await readFreshness(pool)).refresh).toBeNull()
})

test('each class is told with its threads, its polls of the last day and its passes', async () => {
  const { pool } = live.database
  await setDefinitions(pool, { ...PROMISE, refreshBudget: 0.1 })
  await pool.query(`
    delete from collab_store.recent_threads;
    insert into collab_store.recent_threads (annotation_key, batch_key, active_at)
    select annotation_key, 1, now() - interval '1 minute' * array_position(keys, annotation_key)
    from (select array_agg(annotation_key order by annotation_key) as keys from (select annotation_key from collab_store.annotations limit 20) a) k,
      unnest(keys) annotation_key;
    insert into sync.refresh_hours (hour, class, polls, calls, found, failed)
    select date_trunc('hour', now()) - interval '1 hour' * h, class, 3, 4, 1, 2 from generate_series(1, 30) h, generate_series(0, 8) class;
    update sync.refresh_passes set started_at = now(), before_started_at = now() - interval '90 seconds', last_full_pass = now() - interval '1 minute' where class = 1;
    update collab_store.batches set checked_at = now() - interval '5 hours'
    where batch_key = (select min(batch_key) from collab_store.batches)`)
  const rows =
    await ask(`select class, extract(epoch from quiet_from)::int as quiet_from, extract(epoch from quiet_to)::int as quiet_to,
    scopes::int, polls::int, calls::int, found::int, failed::int, share::float8,
    round(extract(epoch from polled_every))::int as every, round(extract(epoch from now() - last_full_pass))::int as whole
    from reporting.refresh_classes order by class`)
  const [{ scopes } = {}] = await ask(SCOPES)
  const polls = { polls: 69, calls: 92, found: 23, failed: 46, share: 0.125 }
  const [first, second, third] = rows
  expect(rows.map((row) => row['class'])).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(first).toMatchObject({ quiet_from: 0, quiet_to: 240, scopes: 3, ...polls, every: null })
  expect(second).toMatchObject({ quiet_to: 960, scopes: 12, ...polls, every: 90, whole: 60 })
  expect(third).toMatchObject({ quiet_to: 3840, scopes: 5 })
  expect(rows[6]).toMatchObject({ quiet_from: 245_760, quiet_to: 983_040, scopes: 0 })
  const whole = { scopes, ...polls, every: 18_000, whole: 18_000 }
  expect(rows[7]).toMatchObject({ quiet_from: null, quiet_to: null, ...whole })
})

test('threads that a pass polled after their batch became late are neither stale nor overdue', async () => {
  const { rows } = await rolledBack(live.database.pool, async (client) => {
    await client.query(`
      update collab_store.batches set checked_at = now() - interval '4 days';
      update collab_store.recent_threads r set active_at = now() - interval '9 minutes', written_in = '0',
        batch_key = (select batch_key from collab_store.annotations a where a.annotation_key = r.annotation_key);
      update sync.refresh_passes set last_full_pass = now() - interval '1 minute', whole_snapshot = '1' where class = 1`)
    return client.query(`
      select (select count(*)::int from collab.annotations where not is_stale) as each,
        (select count(*)::int from collab.annotations where checked_at = now() - interval '1 minute') as polled,
        (select count(*)::int from reporting.freshness where level = 'annotation' and not is_stale) as fresh,
        (select sum(fresh)::int from reporting.coverage where level = 'annotation') as covered,
        sum(scopes) filter (where not is_stale)::int as total, sum(scopes) filter (where not is_overdue)::int as promised
      from collab_store.checks`)
  })
  expect(rows).toEqual([{ each: 20, polled: 20, fresh: 20, covered: 20, total: 20, promised: 20 }])
})

test('the latest pass that polled the current state of a thread is its check, unless its last check failed', async () => {
  const { rows } = await rolledBack(live.database.pool, async (client) => {
    await client.query(`
      update collab_store.batches set checked_at = now() - interval '4 days';
      delete from collab_store.recent_threads;
      insert into collab_store.recent_threads (annotation_key, batch_key, active_at, written_in)
      select annotation_key, batch_key, now() - interval '1 minute' * minutes, written_in
      from (select *, row_number() over (order by annotation_key) as n from collab_store.annotations) a
      join (values (1, 9, '0'::xid8), (2, 9, '1'), (3, 4, '0'), (4, 20, '0'), (5, 9, '0'), (6, 9, '0')) t (n, minutes, written_in) using (n);
      update sync.refresh_passes set last_full_pass = now() - interval '7 minutes', whole_snapshot = '1' where class = 0;
      update sync.refresh_passes set last_full_pass = now() - interval '1 minute', whole_snapshot = '1' where class = 1;
      update collab_store.annotations a set
        failing_since = case n when 5 then now() end,
        own_checked_at = case n when 6 then '-infinity'::timestamptz end
      from (select annotation_key, row_number() over (order by annotation_key) as n from collab_store.recent_threads) t
      where a.annotation_key = t.annotation_key`)
    return client.query(`
      select extract(epoch from now() - checked_at)::int as ago, is_stale,
        extract(epoch from now() - pass_started_at)::int as pass
      from collab_store.checked_annotations
      join collab_store.recent_threads using (annotation_key)
      left join collab_store.pass_checks using (annotation_key)
      order by annotation_key`)
  })
  const unpolled = { ago: 4 * 86_400, is_stale: true, pass: null }
  expect(rows).toEqual([
    { ago: 60, is_stale: false, pass: 60 },
    unpolled, // Written since.
    unpolled, // Changed too late for either pass.
    unpolled, // Changed too early.
    unpolled, // Failing.
    { ...unpolled, ago: null }, // To be checked again.
  ])
})

test('the delays of a day are in the columns of their names', async () => {
  const [row] = await rolledBack(live.database.pool, async (client) => {
    await client.query(`
      update collab_store.definitions set change_target = '30 seconds';
      update collab_store.comments c set day = '2026-01-05', written_at = '2026-01-05Z', not_before = '2026-01-04Z',
        first_seen_at = '2026-01-05Z'::timestamptz + make_interval(secs => (array[10, 20, 30, 100])[k.n])
      from (select annotation_key, comment_id, row_number() over () as n from collab_store.comments limit 4) k
      where c.annotation_key = k.annotation_key and c.comment_id = k.comment_id`)
    const { rows } = await client.query(`
      select changes::int, undated::int, undated_share::float8, p50_seconds::float8, p95_seconds::float8, mean_seconds::float8,
        within_target::int, within_target_share::float8, is_final
      from reporting.change_delay_daily where day = '2026-01-05' and organization_id is null`)
    return rows
  })
  expect(row).toEqual({
    changes: 4,
    undated: 0,
    undated_share: 0,
    p50_seconds: 25,
    p95_seconds: 89.5,
    mean_seconds: 40,
    within_target: 3,
    within_target_share: 0.75,
    is_final: true,
  })
})

test('status and the document describe it in words', async () => {
  const { pool } = live.database
  const freshness = await readFreshness(pool)
  expect(FreshnessSchema.parse(freshness)).toEqual(freshness)
  const { refresh } = freshness
  if (refresh === null) throw new Error('no refresh')
  expect(refresh).toMatchObject({ budget: 0.1, used: 36 / 3600, fault: null, targetS: 3600 })
  const planned = refresh.classes.map(({ plannedShare }) => plannedShare ?? 0)
  expect(planned.reduce((sum, each) => sum + each)).toBeCloseTo(1, 9)
  expect(planned.every((each, of) => each > 0 === refresh.classes[of]!.scopes > 0)).toBe(true)
  const text = refreshLines(refresh).join('\n')
  expect(text).toContain('0.1 calls/s (8,640 a day), 0.01 sent in the last full hour')
  expect(text).toMatch(/under 4 min +3 .*\n.*4 min to 16 min +12 +1 min 30 s +69/)
  const [{ scopes } = {}] = await ask(SCOPES)
  expect(refresh.boundS).toBeCloseTo((1.09 * scopes) / 0.1)
  expect(text).toMatch(/With this budget, every scope is checked within \d+ min/)
})

test('a pause and a budget that the catalog has outgrown are said', async () => {
  const { pool } = live.database
  await pool.query(`update sync.refresh_state set paused_since = now(), paused_until = now() + interval '1 minute', reason = 'The token is refused.';
    update collab_store.definitions set refresh_budget = 0.0001`)
  const { refresh } = await readFreshness(pool)
  if (refresh === null) throw new Error('no refresh')
  expect(refresh.needed).toBeGreaterThan(refresh.budget)
  const text = refreshLines(refresh).join('\n')
  expect(text).toContain('The token is refused.')
  expect(text).toMatch(
    /FRESHNESS_PROMISE=3d for \d+ scopes needs a REFRESH_BUDGET of [\d.]+ calls a second, and it is 0\.0001\./,
  )
  const settings = { ...PROMISE, refreshBudget: 0.0001 }
  expect(await checkDefinitions(pool, settings)).toMatchObject({
    check: 'definitions',
    state: 'fail',
    found: refresh.fault,
  })
})
