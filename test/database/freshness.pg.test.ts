import { beforeAll, describe, expect, test } from 'vitest'
import { requireDefinitions, setDefinitions } from '../../src/core/database/definitions.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import * as definitions from '../../src/core/database/statements/definitions.ts'
import { UsageError } from '../../src/base/errors.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

const HOUR_MS = 3_600_000
const STEP_MS = 10_000

describe('the promise', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })

  const today = new Date().getUTCDay() || 7
  const daysAgo = (...ago: number[]) => ago.map((days) => ((today - 1 - days + 14) % 7) + 1)
  test.each([
    ['every day', 26, [], 'UTC'],
    ['a promise of seconds', 0.02, [], 'UTC'],
    ['a schedule that rested for the last two days', 26, daysAgo(1, 2), 'UTC'],
    ['in another time zone', 26, daysAgo(1, 2), 'Pacific/Auckland'],
    ['a schedule that rests today', 26, daysAgo(0), 'UTC'],
    ['a weekly schedule, four days ago', 26, daysAgo(0, 1, 2, 3, 5, 6), 'UTC'],
    ['a promise of a week with a weekly schedule', 24 * 8, daysAgo(0, 1, 2, 3, 4, 5), 'UTC'],
  ])('%s: what is stale is counted back over the days that count', async (_, hours, days, zone) => {
    await setDefinitions(database.pool, { freshnessPromiseMs: hours * HOUR_MS })
    await definitions.setSchedule.run(database.pool, {
      schedule: null,
      timeZone: zone,
      days,
      dueTimes: [],
      lateAfterS: 1800,
    })
    const { rows } = await database.pool.query(
      'select now() as now, stale_before as at from collab_store.promise',
    )
    const expected = countedBack(rows[0].now, hours * HOUR_MS, days, zone)
    expect(Math.abs(rows[0].at.getTime() - expected)).toBeLessThan(2 * STEP_MS)
  })

  test.each([
    [25, 0],
    [27, 1],
  ])(
    'a scope that was never checked and has failed for %i hours is overdue after 26: %i',
    async (hours, overdue) => {
      await setDefinitions(database.pool, { freshnessPromiseMs: 26 * HOUR_MS })
      await database.pool.query(`update collab_store.definitions set days_without_run = '{}'`)
      const source = listSource('test', [{ organizationId: 'o' }])
      await importCatalog(database.pool, source, { prune: null })
      await database.pool.query(
        `update collab_store.listings set own_checked_at = '-infinity', failing_since = now() - make_interval(hours => $1)`,
        [hours],
      )
      const { rows } = await database.pool.query('select from collab_store.checks where is_overdue')
      expect(rows).toHaveLength(overdue)
    },
  )

  test.each([
    ['-infinity', ['2026-01-03', '2026-01-02'], '2026-01-02'],
    ['2026-01-01', ['2026-01-03', '2026-01-02'], '2026-01-02'],
    ['2026-01-01', ['2026-01-03', '-infinity'], null],
  ])(
    'an organization whose users were checked %s and its annotations %j: the annotations %s',
    async (listings, annotations, expected) => {
      const ids = { organizationId: 'p', documentId: 'd' }
      const lines = annotations.map((_, index) => ({ ...ids, annotationId: `${index}` }))
      await importCatalog(database.pool, listSource('test', lines), { prune: null })
      // What is stored of annotations may be out of date, whether they are synced or not.
      await setDefinitions(database.pool, {
        freshnessPromiseMs: 26 * HOUR_MS,
        operations: ['users'],
      })
      await database.pool.query('update collab_store.listings set own_checked_at = $1', [listings])
      await database.pool.query(
        'update collab_store.annotations set own_checked_at = ($1::timestamptz[])[annotation_id::int + 1]',
        [annotations],
      )
      const { rows } = await database.pool.query(
        `select annotations_checked_at::date::text as at from collab_store.organization_checks
        join collab_store.organizations using (organization_key) where organization_id = 'p'`,
      )
      expect(rows).toEqual([{ at: expected }])
    },
  )

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
    await expect(
      requireDefinitions(database.pool, { ...ours, operations: ['comments'] }),
    ).rejects.toThrow(
      'SYNC_OPERATIONS is comments in the settings of this process and users,comments in the database',
    )
  })

  test('needs no calls for operations that are left out', async () => {
    const lines = Array.from({ length: 20 }, (_, n) => ({ organizationId: `q${n}` }))
    await importCatalog(database.pool, listSource('test', lines), { prune: null })
    const narrow = { freshnessPromiseMs: 60_000, refreshBudget: 0.2 }
    await setDefinitions(database.pool, { ...narrow, operations: ['comments'] })
    await expect(setDefinitions(database.pool, narrow)).rejects.toThrow('needs a REFRESH_BUDGET of')
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
