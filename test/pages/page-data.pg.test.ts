import { afterAll, beforeAll, expect, test } from 'vitest'
import * as pages from '../../src/core/database/statements/pages.ts'
import { readHeldUsers } from '../../src/client/waiting.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { openLive } from '../helpers/live.ts'
import type { Live, RunRow } from '../helpers/live.ts'

let live: Live
let organizationId: string
let second: RunRow

beforeAll(async () => {
  live = await openLive('none')
  ;[organizationId] = [...live.world.organizationIds()] as [string]
  await live.importCatalog()
  await live.run({ trigger: 'schedule' })
  randomChanges(live.world, { count: 30, seed: 5, kinds: ['edit', 'deleteComment'] })
  live.standIn.setFaults([
    { kind: 'unavailable', rate: 0.2, mostInARow: 2 },
    { kind: 'empty-list', match: { operation: 'users', organizationId } },
  ])
  second = await live.run({ trigger: 'schedule' })
})
afterAll(() => live.close())

test('the calls over the time of a run add up to those of the run', async () => {
  const parts = await pages.callsOverTime.all(live.database.pool, {
    runId: second.run_id,
    parts: 24,
  })
  expect(parts).toHaveLength(24)
  expect(sum(parts.map(({ calls }) => calls))).toBe(second['calls'])
  expect(sum(parts.map(({ retries }) => retries))).toBe(second['retries'])
  expect(parts.every(({ calls, meanMs }) => calls > 0 === (meanMs !== null))).toBe(true)
  expect(parts[0]?.fromMs).toBe(0)
})

test('the slowest organizations come with all that the run did there', async () => {
  const { pool } = live.database
  const runId = second.run_id
  const slowest = await pages.slowestOrganizations.all(pool, { runId, limit: 10 })
  expect(slowest.map((one) => one.organizationId).toSorted()).toEqual(
    [...live.world.organizationIds()].toSorted(),
  )
  expect(sum(slowest.map(({ calls }) => calls))).toBe(second['calls'])
  const waits = slowest.map((one) => one.serviceMs + one.waitedMs + one.databaseMs)
  expect(waits).toEqual(waits.toSorted((a, b) => b - a))
  expect(await pages.slowestOrganizations.all(pool, { runId, limit: 1 })).toEqual([slowest[0]])
})

test('days lead to the run that needs a look, and tell what the checks noticed', async () => {
  const { pool } = live.database
  expect(await pages.newestNightly.first(pool)).toEqual({ runId: second.run_id })
  const days = await pages.runsByDay.all(pool)
  expect(days).toHaveLength(30)
  expect(days[0]).toMatchObject({ runs: 0, underWay: 0, shownRunId: null })
  expect(days.at(-1)?.shownRunId).toBe(second.run_id)
  expect(sum(days.map(({ runs }) => runs))).toBe(2)
  expect(sum(days.map(({ partial }) => partial))).toBe(1)
  const { rows } = await pool.query(
    `select count(*) filter (where change = 'edited')::int as edits,
      count(*) filter (where change = 'deleted')::int as deletions from reporting.edits_and_deletions`,
  )
  const activity = await pages.activityByDay.all(pool)
  expect(activity.map(({ day }) => day)).toEqual(days.map(({ day }) => day))
  expect({
    edits: sum(activity.map((day) => day.edits)),
    deletions: sum(activity.map((day) => day.deletions)),
  }).toEqual(rows[0])
})

test('all users of a held listing are paged through, those who leave apart from those who stay', async () => {
  const { pool } = live.database
  const cut = await pool.query(
    `update sync.held set missing_user_ids = missing_user_ids[1:cardinality(missing_user_ids) - 3]
    where kind = 'organization' returning held_id as id, missing_user_ids as missing`,
  )
  const { id, missing } = cut.rows[0]
  const seen = { missing: [] as string[], staying: [] as string[] }
  for (let isMore = true; isMore;) {
    const after = { missing: seen.missing.at(-1), staying: seen.staying.at(-1) }
    const users = (await readHeldUsers(pool, [id], 2, after)).get(id)
    for (const side of ['missing', 'staying'] as const)
      seen[side].push(...(users?.[side].first ?? []).map(({ userId }) => userId))
    isMore = [users?.missing.more, users?.staying.more].some((more = 0) => more > 0)
  }
  expect(seen.missing).toEqual(missing.toSorted())
  expect(seen.staying).toHaveLength(3)
  expect(new Set([...seen.missing, ...seen.staying]).size).toBe(missing.length + 3)
})

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}
