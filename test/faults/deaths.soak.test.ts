import { beforeEach, describe, expect, test } from 'vitest'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { QUEUE_KINDS, isMissing } from '../helpers/live.ts'
import { quarterOfAllCallsTenWays } from '../service/faults.ts'
import { callsNeeded, openRig } from './rig.ts'
import type { Rig } from './rig.ts'

/** Two heartbeats, and what a busy machine adds. */
const DEAD_AFTER = { TEST_DEAD_AFTER_S: '12' }

describe.each(QUEUE_KINDS)('death of workers, with the queue on %s', (queue) => {
  let rig: Rig

  beforeEach(async (context) => {
    if (isMissing(queue)) return context.skip()
    rig = await openRig(queue, { standIn: { latencyMs: 80 } })
  })

  test('three workers are killed in mid-run, the fourth ends it: tables equal, little asked twice, no version made twice', async () => {
    const needed = callsNeeded(rig.world)
    const runId = await rig.startRun()
    for (let kills = 0; kills < 3; kills++) {
      const before = rig.standIn.calls.total
      const worker = await rig.start(DEAD_AFTER)
      await rig.callsReach(before + 130)
      await worker.kill()
    }
    const worker = await rig.start(DEAD_AFTER)
    const run = await rig.settled(runId, 180_000)
    expect(run).toMatchObject({ status: 'succeeded', scopes_planned: needed })
    await expectTablesEqual(rig.database, rig.world)
    expect(rig.standIn.calls.total).toBeLessThan(1.6 * needed)
    expect(await rig.rows('select from collab.comment_versions where version > 1')).toEqual([])
    expect(await worker.stop()).toBe(0)
    const alive = "select from sync.workers where heartbeat_at > now() - interval '1 second'"
    expect(await rig.rows(alive)).toEqual([])
  }, 300_000)

  test('a worker is killed while responses are broken: the run ends, and sound responses make the tables equal', async () => {
    const settings = { ...DEAD_AFTER, SYNC_RETRIES: '1', HELD_ACCEPT_AFTER: '3' }
    const workers = [await rig.start(settings), await rig.start(settings)]
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
