import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requireDefinitions, setDefinitions } from '../../src/database/definitions.ts'
import { migrate } from '../../src/database/migrate.ts'
import * as definitions from '../../src/database/statements/definitions.ts'
import { UsageError } from '../../src/errors.ts'
import { daysWithoutRun } from '../../src/queue/schedule.ts'
import { createEmptyDatabase, createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

const MIGRATIONS = fileURLToPath(import.meta.resolve('#sql/migrations'))
const HOUR_MS = 3_600_000
const STEP_MS = 10_000

describe('the upgrade of a database with failures', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createEmptyDatabase()
    const before = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql') && file < '0013')
    for (const file of before.toSorted()) await run(file)
    await database.pool.query(`
      insert into collab_store.organizations (organization_id, users_scopes) values ('o', 3);
      insert into collab_store.batches (organization_key, batch_no, scopes, operation, checked_at)
      select organization_key, 0, 3, operation, now() - interval '1 hour'
      from collab_store.organizations, (values ('users'), ('comments')) x (operation);
      insert into collab_store.documents (organization_key, batch_key, scope_no, document_id)
      select organization_key, batch_key, 1, 'd' from collab_store.batches where operation = 'users';
      insert into collab_store.annotations (document_key, batch_key, scope_no, own_checked_at, annotation_id)
      select document_key, b.batch_key, x.* from collab_store.documents, collab_store.batches b, (values
        (0, null, 'failed before the last good check'), (1, null, 'failed by itself since'),
        (2, '-infinity'::timestamptz, 'never good'), (3, now(), 'good by itself since'))
        x (scope_no, own_checked_at, annotation_id)
      where b.operation = 'comments';
      insert into sync.runs (run_id, trigger) values ('00000000-0000-0000-0000-000000000001', 'cli');
      insert into sync.failures (run_id, batch_key, operation, scope_no, attempts, at)
      select '00000000-0000-0000-0000-000000000001', b.batch_key, b.operation, x.scope_no, 1, now() - x.age
      from collab_store.batches b, (values
        ('comments', 0, interval '2 hours'), ('comments', 1, '20 min'), ('comments', 1, '30 min'), ('comments', 2, '3 hours'),
        ('comments', 3, '10 min'), ('users', 0, '10 min')) x (operation, scope_no, age)
      where b.operation = x.operation`)
    await run('0013_freshness.sql')
  })
  afterAll(() => database.drop())

  const run = async (file: string) => {
    await database.pool.query(readFileSync(join(MIGRATIONS, file), 'utf8'))
  }

  test('knows what is failing, since when, and when it was good last', async () => {
    const { rows } = await database.pool.query(`
      select annotation_id, round(extract(epoch from now() - checked_at) / 60)::int as checked,
        round(extract(epoch from now() - failing_since) / 60)::int as failing, is_stale
      from reporting.freshness where level = 'annotation' order by 1`)
    expect(rows).toEqual([
      row('failed before the last good check', 60, null, false),
      row('failed by itself since', 60, 30, true),
      row('good by itself since', 0, null, false),
      row('never good', null, 180, true),
    ])
    const others = await database.pool.query(
      `select level, is_stale from reporting.freshness where level <> 'annotation' order by 1`,
    )
    expect(others.rows).toEqual([
      { level: 'document', is_stale: false },
      { level: 'organization', is_stale: true },
    ])
  })

  const row = (id: string, checked: number | null, failing: number | null, stale: boolean) => ({
    annotation_id: id,
    checked,
    failing,
    is_stale: stale,
  })
})

describe('the promise', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.drop())

  const today = new Date().getUTCDay() || 7
  const daysAgo = (...ago: number[]) => ago.map((days) => ((today - 1 - days + 14) % 7) + 1)
  test.each([
    ['every day', 26, [], 'UTC'],
    ['a promise of seconds', 0.02, [], 'UTC'],
    ['a schedule that rested for the last two days', 26, daysAgo(1, 2), 'UTC'],
    ['in another time zone', 26, daysAgo(1, 2), 'Pacific/Auckland'],
    ['in a third', 30, daysAgo(2, 3), 'America/Los_Angeles'],
    ['a schedule that rests today', 26, daysAgo(0), 'UTC'],
    ['a weekly schedule, today', 26, daysAgo(1, 2, 3, 4, 5, 6), 'UTC'],
    ['a weekly schedule, four days ago', 26, daysAgo(0, 1, 2, 3, 5, 6), 'UTC'],
    ['a promise of seconds on a day of rest', 0.02, daysAgo(0, 1), 'UTC'],
    ['a promise of a week with a weekly schedule', 24 * 8, daysAgo(0, 1, 2, 3, 4, 5), 'UTC'],
  ])('%s: what is stale is counted back over the days that count', async (_, hours, days, zone) => {
    await setDefinitions(database.pool, { freshnessPromiseMs: hours * HOUR_MS })
    await definitions.setDaysWithoutRun.run(database.pool, { timeZone: zone, days })
    const { rows } = await database.pool.query(
      'select now() as now, stale_before as at from collab_store.promise',
    )
    const expected = countedBack(rows[0].now, hours * HOUR_MS, days, zone)
    expect(Math.abs(rows[0].at.getTime() - expected)).toBeLessThan(2 * STEP_MS)
  })

  test.each([
    ['0 2 * * *', []],
    ['0 2 * * 1-5', [6, 7]],
    ['0 22 * * 0-4', [5, 6]],
    ['0 2 * * 7', [1, 2, 3, 4, 5, 6]],
    ['0 2 * * 5L', [1, 2, 3, 4, 6, 7]],
    ['0 2 1 * *', []],
    ['0 2 1 * 1', []],
    [null, []],
  ])('the schedule %s starts no run on %j', (cron, days) => {
    expect(daysWithoutRun(cron)).toEqual(days)
  })

  test('is what migrate was given, and a process with another one says both', async () => {
    const ours = { freshnessPromiseMs: 75_000 }
    await migrate(database.url, { freshnessPromiseMs: 48 * HOUR_MS })
    await migrate(database.url)
    const refused = requireDefinitions(database.pool, ours)
    await expect(refused).rejects.toThrow(UsageError)
    await expect(refused).rejects.toThrow(
      'FRESHNESS_PROMISE is 75s in the settings of this process and 2d in the database',
    )
    await migrate(database.url, ours)
    await requireDefinitions(database.pool, ours)
  })
})

/** Step by step. */
function countedBack(now: Date, promiseMs: number, days: readonly number[], zone: string): number {
  const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: zone })
  const names = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
  const allowed = Math.min(promiseMs, 48 * HOUR_MS)
  let at = now.getTime()
  for (let counted = 0; counted < allowed; at -= STEP_MS)
    if (!days.includes(names.indexOf(day.format(at)) + 1)) counted += STEP_MS
  return Math.min(at, now.getTime() - promiseMs)
}
