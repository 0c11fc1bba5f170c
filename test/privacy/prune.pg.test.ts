import { beforeEach, expect, test } from 'vitest'
import { prune } from '../../src/features/privacy/prune.ts'
import type { OnPruned, Pruned } from '../../src/features/privacy/prune.ts'
import { jobs } from '../../jobs/index.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { openLoaded } from '../helpers/live.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase()
})

const DAY_MS = 86_400_000
const before = new Date(Date.now() - 400 * DAY_MS)

async function one(text: string, values: unknown[] = []): Promise<unknown> {
  return Object.values((await database.pool.query(text, values)).rows[0])[0]
}

/** Prunes, and expects that a dry run says the same beforehand. */
async function pruneAsAnnounced(onPruned?: OnPruned): Promise<Pruned> {
  const announced = await prune(database.pool, before, { isDryRun: true })
  const pruned = await prune(database.pool, before, onPruned && { onPruned })
  expect(announced).toEqual(pruned)
  return pruned
}

/** A run with an item, a failure and a rejected record. @returns its ID */
async function settledRun(daysAgo: number): Promise<string> {
  const runId = await one(
    `with run as (
      insert into sync.runs (trigger, status, requested_at, finished_at)
      select 'cli', 'succeeded', at, at from (select now() - make_interval(days => $1) as at) t returning run_id, finished_at
    ), items as (
      insert into sync.run_items (run_id, kind, state) select run_id, 'sync-batch', 'done' from run
    ), failures as (
      insert into sync.failures (run_id, attempts, operation) select run_id, 1, 'users' from run
    ), rejected as (
      insert into sync.rejected_records (run_id, operation, reason, record, is_whole, digest, at)
      select run_id, 'users', 'odd', '{}', true, uuid_send(run_id), finished_at from run
    ) select run_id from run`,
    [daysAgo],
  )
  return runId as string
}

async function held(runId: string, resolution: 'accepted' | null): Promise<void> {
  await database.pool.query(
    `insert into sync.held (run_id, batch_key, scope_key, users_before, operation, kind, resolution, resolved_at, content_digest,
      organization_id, missing_user_ids)
    values ($1, 1, 1, 1, 'users', 'document', $2, case when $2::text is not null then now() end, '', 'o', '{u}')`,
    [runId, resolution],
  )
}

test('history that ended before the time is deleted, in as many steps as a table needs', async () => {
  await database.pool.query(`
    insert into collab_store.comment_versions (annotation_key, comment_id, version, comment_text, change, valid_from, valid_to)
    select 1, c, v, repeat('x', 400), 'edited', now() - interval '2 years',
      case when v % 2 = 1 then now() - interval '500 days' else now() - interval '1 day' end
    from generate_series(1, 20000) c, generate_series(1, 4) v;
    insert into collab_store.organizations (organization_id) values ('o');
    insert into collab_store.documents (organization_key, document_id) values (1, 'd');
    insert into collab_store.past_memberships (document_key, joined_at, removed_at, user_id)
    select 1, now() - interval '3 years', now() - make_interval(days => n), 'u' from generate_series(390, 410) n;
    insert into sync.catalog_imports (source, requested_by, state, last_seen_at)
    select 'file', 'somebody', state, now() - interval '400 days 1 hour'
    from unnest(array['applied', 'failed', 'held', 'refused']) state`)
  const steps: number[] = []
  const pruned = await pruneAsAnnounced((table, share) => {
    if (table === 'collab_store.comment_versions') steps.push(share)
  })
  expect(pruned).toMatchObject({ commentVersions: 40_000, pastMemberships: 10, catalogImports: 2 })
  expect(await one('select count(*)::int from collab_store.past_memberships')).toBe(11)
  expect(
    await one(
      `select array_agg(distinct valid_to > now() - interval '2 days') from collab_store.comment_versions`,
    ),
  ).toEqual([true])
  expect(steps.length).toBeGreaterThan(5)
  expect(steps).toEqual([...steps].sort((a, b) => a - b))
  expect(steps.at(-1)).toBe(1)
})

test('an old finished run is deleted with all its parts; others, and those with a held removal, stay complete', async () => {
  const old = await settledRun(500)
  const resolved = await settledRun(450)
  await held(resolved, 'accepted')
  const waiting = await settledRun(450)
  await held(waiting, null)
  const recent = await settledRun(10)
  await database.pool.query(
    `insert into sync.runs (trigger, requested_at) values ('cli', now() - interval '900 days')`,
  )
  const pruned = await pruneAsAnnounced()
  expect(pruned).toMatchObject({ runs: 2, runItems: 2, failures: 2, rejectedRecords: 3, held: 1 })
  const { rows } = await database.pool.query(
    `select run_id from sync.runs where status = 'succeeded' order by 1`,
  )
  expect(rows.map(({ run_id }) => run_id)).toEqual([waiting, recent].sort())
  expect(old).not.toBe(waiting)
  for (const table of ['run_items', 'failures']) {
    expect(await one(`select count(*)::int from sync.${table}`), table).toBe(2)
  }
  // By when it was last seen, whatever became of its run.
  expect(await one('select count(*)::int from sync.rejected_records')).toBe(1)
  expect(await one(`select count(*)::int from sync.runs where status = 'queued'`)).toBe(1)
  expect(new Set(Object.values(await pruneAsAnnounced()))).toEqual(new Set([0]))
})

test('what users did is deleted by its age, but stays with a run that is kept and with the schedule', async () => {
  const [old, kept] = [await settledRun(500), await settledRun(500)]
  await held(kept, null)
  await database.pool.query(
    `insert into sync.schedule (cron, time_zone, removed, set_at) values ('0 2 * * *', 'UTC', false, now() - interval '600 days');
    insert into sync.actions (at, by, action, run_id, target)
    select now() - age, 'ann', action, run_id, target
    from (values
      (interval '500 days', 'run_requested', '${old}'::uuid, 'old run'),
      (interval '500 days', 'run_requested', '${kept}'::uuid, 'kept run'),
      (interval '500 days', 'token_added', null, 'old'),
      (interval '399 days', 'token_added', null, 'young'),
      (interval '700 days', 'schedule_set', null, 'schedule before')) v (age, action, run_id, target)`,
  )
  await database.pool.query(
    `insert into sync.actions (at, by, action, target) select set_at, 'ann', 'schedule_set', 'schedule' from sync.schedule`,
  )
  expect(await pruneAsAnnounced()).toMatchObject({ runs: 1, actions: 3 })
  expect(await one(`select array_agg(target order by target) from sync.actions`)).toEqual([
    'kept run',
    'schedule',
    'young',
  ])
})

test('pauses that ended before the time are deleted, and stored nights keep their status', async () => {
  const run = await settledRun(420)
  await held(run, null)
  await database.pool.query(
    `update sync.runs set trigger = 'schedule';
    insert into sync.nightly_due
    select now() - make_interval(days => n) - interval '1 second' from unnest(array[450, 420, 399]) n;
    insert into sync.pauses (paused_by, paused_at, paused_until)
    select n, now() - begun, now() - ended
    from (values
      ('before a deleted night', interval '450 days 1 hour', interval '449 days 20 hours'),
      ('before a night with a run', interval '420 days 1 hour', interval '419 days 20 hours'),
      ('before a night without a run', interval '400 days 1 hour', interval '398 days 20 hours'),
      ('lasts', interval '401 days', interval '-1 hour')) p (n, begun, ended)`,
  )
  const nights = `select array_agg(status order by due_at) from reporting.nightly`
  expect(await one(nights)).toEqual(['paused', 'succeeded', 'paused'])
  expect(await pruneAsAnnounced()).toMatchObject({ nightlyDue: 1, pauses: 2 })
  expect(await one(nights)).toEqual(['succeeded', 'paused'])
  expect(await one(`select array_agg(paused_by order by paused_by) from sync.pauses`)).toEqual([
    'before a night without a run',
    'lasts',
  ])
})

test('a nightly run deletes what is older than PRUNE_OLDER_THAN, once however often its job is delivered', async () => {
  const live = await openLoaded('none')
  await live.database.pool.query(
    `insert into sync.runs (trigger, status, requested_at, finished_at)
    select 'cli', 'succeeded', at, at from unnest(array[now() - interval '61 days', now() - interval '59 days']) at`,
  )
  const app = await live.openApp({ PRUNE_OLDER_THAN: '60d' })
  const night = () => jobs['start-nightly-run'](app, { data: {}, requestKey: 'night' } as never)
  const { runId } = (await night()) as { runId: string }
  const actions = () =>
    live.rows(
      `select by, action, run_id, target ~ '^before .*: 1 row$' as is_counted from sync.actions where action = 'history_pruned'`,
    )
  const pruned = { by: 'schedule', action: 'history_pruned', run_id: runId, is_counted: true }
  expect(await actions()).toEqual([pruned])
  await live.database.pool.query(
    `update sync.runs set finished_at = now() - interval '61 days' where trigger = 'cli'`,
  )
  await night()
  expect(await actions()).toEqual([pruned])
  expect(
    await live.rows(`select count(*)::int as kept from sync.runs where trigger = 'cli'`),
  ).toEqual([{ kept: 1 }])
  // A worker that stops in the middle gives the job back, and the next delivery prunes.
  await live.database.pool.query('delete from sync.actions')
  app.drain()
  await expect(night()).rejects.toThrow('The worker is stopping.')
  expect(await actions()).toEqual([])
})
