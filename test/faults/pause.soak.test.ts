import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { isMissing, QUEUE_KINDS } from '../helpers/live.ts'
import { onDatabase } from '../client/on-app.ts'
import { callsNeeded, openRig } from './rig.ts'

const PAUSE_MS = 25_000

describe.each(QUEUE_KINDS)('a pause in a run of two workers, with the queue on %s', (kind) => {
  test('lasts longer than their patience, between two 429s, and fails no scope', async (context) => {
    if (isMissing(kind)) return context.skip()
    const rig = await openRig(kind, { standIn: { latencyMs: 100 } })
    const collabSync = onDatabase(rig.database.pool)
    const settings = {
      SYNC_CONCURRENCY: '1',
      // Between the first call and the last, calls are throttled for less than that.
      SYNC_THROTTLED_MAX_MS: '12000',
    }
    const workers = [await rig.start(settings), await rig.start(settings)]
    const throttle = () =>
      rig.standIn.setFaults([{ kind: 'too-many-requests', retryAfterSeconds: 2, times: 2 }])
    const runId = await rig.startRun()
    await rig.callsReach(40)
    throttle()
    await rig.callsReach(42)
    const { pause } = await collabSync.pause({
      until: new Date(Date.now() + PAUSE_MS).toISOString(),
    })
    await setTimeout(10_000)
    const before = rig.standIn.calls.total
    throttle()
    const waiting = (await collabSync.getRun(runId))?.waiting ?? []
    expect(waiting.map(({ kind: of }) => of)).toEqual(['paused_by_person'])
    await setTimeout(Number(pause?.until) - Date.now() - 500)
    expect(rig.standIn.calls.total).toBe(before)
    const run = await rig.settled(runId, 200_000)
    expect(run).toMatchObject({ status: 'succeeded', scopes_succeeded: callsNeeded(rig.world) })
    // A call of each worker waited for its slot in the pause.
    expect(Number(run['waited_ms'])).toBeLessThan(1_000)
    expect(Number(run['waited_throttled_ms'])).toBeLessThan(PAUSE_MS)
    await Promise.all(workers.map((worker) => worker.stop()))
  }, 300_000)
})
