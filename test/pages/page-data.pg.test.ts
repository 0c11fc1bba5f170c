import { expect, test } from 'vitest'
import * as pages from '../../src/core/database/statements/pages.ts'
import { withHeldUsers } from '../../src/client/waiting.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { openLoaded } from '../helpers/live.ts'
import type { RunRow } from '../helpers/live.ts'

const live = await openLoaded('none')
const [organizationId] = [...live.world.organizationIds()] as [string]
await live.run({ trigger: 'schedule' })
randomChanges(live.world, { count: 30, seed: 5, kinds: ['edit', 'deleteComment'] })
live.standIn.setFaults([
  { kind: 'unavailable', rate: 0.2, mostInARow: 2 },
  { kind: 'empty-list', match: { operation: 'users', organizationId } },
])
const second: RunRow = await live.run({ trigger: 'schedule' })

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

test('each of 30 days has its worst run, what its runs stored, and the changes that checks found', async () => {
  const { pool } = live.database
  expect(await pages.newestWhole.first(pool, { ofAnyTrigger: false })).toMatchObject({
    runId: second.run_id,
  })
  await pool.query(
    `update collab_store.comments set day = (now() at time zone 'UTC')::date - 2
    where ctid in (select ctid from collab_store.comments where deleted_at is null limit 3)`,
  )
  const days = await pages.days.all(pool)
  expect(days).toHaveLength(30)
  expect(days[0]).toMatchObject({ runs: 2, runId: second.run_id, status: 'partial' })
  const { rows: runs } = await pool.query(
    'select sum(comments_written)::int as stored from sync.runs',
  )
  expect(days[0]?.stored).toBe(runs[0].stored)
  await pool.query(
    `insert into sync.runs (run_id, trigger, status, scope, requested_at, started_at, finished_at, problem)
    values (gen_random_uuid(), 'cli', 'failed', '{}', now(), now(), now(), 'It failed.')`,
  )
  const [today] = await pages.days.all(pool)
  expect(today).toMatchObject({ runs: 3, status: 'failed' })
  await pool.query(`delete from sync.runs where run_id = $1`, [today?.runId])
  expect(days[2]).toMatchObject({ comments: 3, edits: 0, runs: 0 })
  expect(days.at(-1)).toMatchObject({ runs: 0, runId: null })
  const { rows } = await pool.query(
    `select count(*) filter (where change = 'edited')::int as edits,
      count(*) filter (where change = 'deleted')::int as deletions from reporting.edits_and_deletions`,
  )
  expect(days[0]).toMatchObject(rows[0])
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
    const [users] = await withHeldUsers(pool, [{ heldId: id }], 2, after)
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
