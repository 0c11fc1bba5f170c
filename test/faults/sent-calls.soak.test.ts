import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { DEAD_AFTER_S } from '../../src/core/database/claims.ts'
import { edit } from '../../src/demo/changes.ts'
import { places } from '../../src/demo/catalog.ts'
import { createLog } from '../../src/base/log.ts'
import { RunSignals } from '../../src/core/run/run-signals.ts'
import { SentCalls } from '../../src/core/sync/counts.ts'
import { stopRun } from '../../src/core/run/stop.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { openLoaded, settled } from '../helpers/live.ts'
import { callsNeeded, openRig } from './rig.ts'
import type { Rig } from './rig.ts'

/** `sync.runs.calls` says what the service saw, whatever became of the answers. */

/** Most calls that one process has in flight. */
const IN_FLIGHT_MAX = 16

test('of two runs that overtake each other, each counts the calls that it sent', async () => {
  const live = await openLoaded('postgres', { standIn: { latencyMs: 30, latencyJitterMs: 200 } })
  await live.run()
  const before = live.standIn.calls.total
  // Something to write in every batch, so that the runs take batches from each other.
  for (const place of places(live.world)) {
    const [comment] = live.world.comments(place) ?? []
    if (comment !== undefined) edit(live.world, place, comment.commentId, { text: 'new' })
  }
  const workers = [await live.openWorker(), await live.openWorker()]
  const runIds = await Promise.all(workers.map((worker) => worker.startRun()))
  for (const runId of runIds) await settled(live.database, runId)
  await Promise.all(workers.map((worker) => worker.stop()))
  const seen = live.standIn.calls.total - before
  expect(seen).toBeGreaterThan(callsNeeded(live.world))
  const sum = 'select sum(calls)::int as calls from sync.runs where run_id = any($1)'
  expect(await live.rows(sum, runIds)).toEqual([{ calls: seen }])
})

test('calls that PostgreSQL does not take are kept for the next time, and count in a run that was settled meanwhile', async () => {
  const database = await createTestDatabase()
  const { rows } = await database.pool.query(
    `insert into sync.runs (trigger, status, finished_at, calls) values ('cli', 'cancelled', now(), 5) returning run_id`,
  )
  const runId: string = rows[0].run_id
  const sent = new SentCalls(database.pool, createLog('silent'))
  sent.add(runId, { calls: 1 })
  sent.add(runId, { calls: 1, retries: 1 })
  sent.add(runId, { waitedThrottledMs: 40.4 })
  await database.pool.query('alter table sync.runs rename to runs_away')
  await sent.write()
  await database.pool.query('alter table sync.runs_away rename to runs')
  await Promise.all([sent.write(), sent.write()])
  await sent.close()
  const run = await database.pool.query('select calls, retries, waited_throttled_ms from sync.runs')
  expect(run.rows).toEqual([{ calls: 7, retries: 1, waited_throttled_ms: 40 }])
})

describe('with workers as processes', () => {
  let rig: Rig
  beforeEach(async () => {
    rig = await openRig('postgres', { standIn: { latencyMs: 80 } })
  })

  async function countsOf(runId: string): Promise<{ calls: number; retries: number }> {
    const rows = await rig.rows('select calls, retries from sync.runs where run_id = $1', runId)
    return rows[0]
  }

  test('a worker that is killed leaves out what it sent in its last second at most, and the next one adds its own', async () => {
    const runId = await rig.startRun()
    const worker = await rig.start()
    await rig.callsReach(400)
    const killedAtMs = Date.now()
    await worker.kill()
    await sleep(200)
    const seen = rig.standIn.calls.total
    const lastSecond = rig.standIn.calls.log.filter(
      // The answer to a call is logged 80 ms after it came.
      ({ atMs }) => atMs > killedAtMs - 1000,
    ).length
    const missing = seen - (await countsOf(runId)).calls
    expect(missing).toBeGreaterThanOrEqual(0)
    expect(missing).toBeLessThanOrEqual(lastSecond + IN_FLIGHT_MAX)
    expect(missing).toBeLessThan(seen)

    const next = await rig.start()
    await rig.settled(runId, 120_000)
    expect(await next.stop()).toBe(0)
    expect((await countsOf(runId)).calls).toBe(rig.standIn.calls.total - missing)
  })

  test('further tries count, and so do the calls of a token that is refused', async () => {
    rig.standIn.latencyMs = 0
    rig.standIn.setFaults([{ kind: 'server-error-html', rate: 0.1 }])
    const worker = await rig.start()
    const tried = await rig.startRun()
    await rig.settled(tried, 120_000)
    const seen = rig.standIn.calls.total
    expect(seen).toBeGreaterThan(callsNeeded(rig.world))
    expect(await countsOf(tried)).toEqual({ calls: seen, retries: seen - callsNeeded(rig.world) })

    rig.standIn.setFaults([])
    rig.standIn.authToken = 'another-token'
    const refused = await rig.startRun()
    expect(await rig.settled(refused, 120_000)).toMatchObject({ status: 'failed' })
    await worker.stop()
    const { calls } = await countsOf(refused)
    expect(calls).toBeGreaterThan(0)
    expect(calls).toBe(rig.standIn.calls.total - seen)
  })

  test('the calls of a run that was cancelled count', async () => {
    const runId = await rig.startRun()
    const worker = await rig.start()
    await rig.callsReach(200)
    const context = {
      database: rig.database.pool,
      deadAfterS: DEAD_AFTER_S,
      log: createLog('silent'),
      runSignals: new RunSignals(),
    }
    await stopRun(context, runId, 'cancelled', 'The test cancelled it.')
    expect(await rig.settled(runId, 120_000)).toMatchObject({ status: 'cancelled' })
    await worker.stop()
    const { calls } = await countsOf(runId)
    const { total } = rig.standIn.calls
    expect(calls).toBeGreaterThanOrEqual(total)
    // A request that was given up as it went out may never have arrived.
    expect(calls).toBeLessThanOrEqual(total + IN_FLIGHT_MAX)
  })
})
