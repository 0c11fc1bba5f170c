import { beforeEach, describe, expect, test } from 'vitest'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { QUEUE_KINDS, isMissing } from '../helpers/live.ts'
import { quarterOfAllCallsTenWays } from '../service/faults.ts'
import { callsNeeded, openOwnRig } from './rig.ts'
import type { Rig } from './rig.ts'

/** Two heartbeats, and what a busy machine adds. */
const DEAD_AFTER = { TEST_DEAD_AFTER_S: '12' }

describe.each(QUEUE_KINDS)('death of workers, with the queue on %s', (queue) => {
  let rig: Rig

  beforeEach(async (context) => {
    if (isMissing(queue)) return context.skip()
    rig = await openOwnRig(queue, { standIn: { latencyMs: 80 } })
  })

  test('three workers are killed in mid-run, the fourth ends it: tables equal, little asked twice, no version made twice', async () => {
    const needed = callsNeeded(rig.world)
    const runId = await rig.startRun()
    for (let kills = 0; kills < 3; kills++) {
      const before = rig.standIn.calls.total
      const worker = await rig.start({ ...rig.environment, ...DEAD_AFTER })
      await rig.callsReach(before + 130)
      await worker.kill()
    }
    const worker = await rig.start({ ...rig.environment, ...DEAD_AFTER })
    const run = await rig.settled(runId, 180_000)
    expect(run).toMatchObject({ status: 'succeeded', scopes_planned: needed })
    await expectTablesEqual(rig.database, rig.world)
    expect(rig.standIn.calls.total).toBeLessThan(1.6 * needed)
    const versions = await rig.database.pool.query(
      'select count(*)::int as n from collab.comment_versions where version > 1',
    )
    expect(versions.rows).toEqual([{ n: 0 }])
    expect(await worker.stop()).toBe(0)
    const workers = await rig.database.pool.query(
      "select count(*)::int as n from sync.workers where heartbeat_at > now() - interval '1 second'",
    )
    expect(workers.rows).toEqual([{ n: 0 }])
  }, 300_000)

  test('a worker is killed while responses are broken: the run ends, and sound responses make the tables equal', async () => {
    const environment = {
      ...rig.environment,
      ...DEAD_AFTER,
      SYNC_RETRIES: '1',
      HELD_ACCEPT_AFTER: '3',
    }
    const workers = [await rig.start(environment), await rig.start(environment)]
    const first = await rig.settled(await rig.startRun(), 180_000)
    expect(first.status).toBe('succeeded')
    randomChanges(rig.world, { count: 200, seed: 7 })
    rig.standIn.setFaults([
      ...quarterOfAllCallsTenWays(),
      { kind: 'half-with-next-page-token', rate: 0.02 },
      { kind: 'wrong-length', rate: 0.05 },
    ])
    const runId = await rig.startRun('schedule')
    await rig.callsReach(rig.standIn.calls.total + 130)
    await workers[0]?.kill()
    expect((await rig.settled(runId, 180_000)).status).toBe('partial')
    rig.standIn.setFaults([])
    // The removal of the only user of a listing is held until three nights have returned the same listing.
    let status = ''
    for (let night = 0; night < 3 && status !== 'succeeded'; night++)
      ({ status } = await rig.settled(await rig.startRun('schedule'), 180_000))
    expect(status).toBe('succeeded')
    await expectTablesEqual(rig.database, rig.world)
  }, 300_000)
})
