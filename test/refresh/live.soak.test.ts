import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { setDefinitions } from '../../src/core/database/definitions.ts'
import { places } from '../../src/demo/catalog.ts'
import { addComment } from '../../src/demo/changes.ts'
import type { Place } from '../../src/demo/layout.ts'
import { Random } from '../../src/demo/random.ts'
import { openRig } from '../faults/rig.ts'
import { until } from '../helpers/until.ts'

const BUDGET = 40
const PROMISE_S = 12
const ACTIVE_THREADS = 12
const SECONDS = 15
const KILL_EVERY_MS = 6000
const WORLD = {
  seed: 3,
  organizations: 2,
  documentsPerOrganization: 15,
  annotationsPerDocument: 10,
  commentsPerAnnotation: 1,
  usersPerOrganization: 5,
  groupsPerOrganization: 0,
}

const rig = await openRig('postgres', { world: WORLD })

function start() {
  return rig.start({
    LOG_LEVEL: 'warn',
    FRESHNESS_PROMISE: `${PROMISE_S}s`,
    REFRESH_BUDGET: String(BUDGET),
    SYNC_OPERATIONS: 'comments',
    SYNC_CRON: '0 0 29 2 *',
    TEST_KEEPS_SCHEDULE: '1',
    TEST_DEAD_AFTER_S: '6',
  })
}

test('two workers that are killed in turn share one budget, lose no change and claim no check that was not made', async () => {
  const { pool } = rig.database
  await setDefinitions(pool, {
    freshnessPromiseMs: PROMISE_S * 1000,
    refreshBudget: BUDGET,
    operations: ['comments'],
  })
  const workers = [await start(), await start()]
  const all = [...places(rig.world)]
  const { calls } = rig.standIn
  await until('everything was fetched', () => calls.total >= all.length || null, 120_000)
  const beginMs = Date.now()
  const random = new Random(1)
  const active = Array.from({ length: ACTIVE_THREADS }, () => random.pick(all))
  let killedMs = beginMs
  for (let changes = 0; Date.now() < beginMs + SECONDS * 1000; changes += 1) {
    await sleep(200 + random.below(1500))
    addComment(rig.world, random.pick(active), { text: `comment ${changes}` })
    if (Date.now() < killedMs + KILL_EVERY_MS) continue
    killedMs = Date.now()
    await workers.shift()?.kill()
    workers.push(await start())
  }
  await sleep(PROMISE_S * 2000)
  for (const worker of workers) await worker.stop()

  const times = calls.log.map(({ atMs }) => atMs).filter((atMs) => atMs >= beginMs)
  const mostInASecond = Math.max(
    ...times.map((from, at) => times.slice(at).filter((atMs) => atMs < from + 1000).length),
  )
  // On a busy machine calls come in bunches; the limiter's own test holds the limit by its clock.
  expect(mostInASecond).toBeLessThanOrEqual(1.5 * BUDGET)
  const lastCallMs = new Map(calls.log.map(({ data, atMs }) => [keyOf(data as Place), atMs]))
  const { rows } = await pool.query(
    `select organization_id as "organizationId", document_id as "documentId", annotation_id as "annotationId", checked_at, comment_count
    from collab.annotations`,
  )
  expect(rows).toHaveLength(all.length)
  for (const row of rows) {
    expect(row.comment_count, keyOf(row)).toBe(rig.world.comments(row)?.length)
    expect(row.checked_at.getTime(), keyOf(row)).toBeLessThanOrEqual(
      lastCallMs.get(keyOf(row)) ?? 0,
    )
  }
}, 240_000)

function keyOf({ organizationId, documentId, annotationId }: Place): string {
  return JSON.stringify([organizationId, documentId, annotationId])
}
