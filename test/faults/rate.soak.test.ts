import { describe, expect, test } from 'vitest'
import { QUEUE_KINDS, isMissing, openLoaded, settled } from '../helpers/live.ts'
import type { Live, RunRow } from '../helpers/live.ts'
import { nextSlotMs, slotMs } from '../rate-limit/next-slot.ts'
import { meanPerSecond, untilUsed } from '../rate-limit/rates.ts'

describe.each(QUEUE_KINDS)('the pace of all workers together, with the queue on %s', (queue) => {
  let live: Live | undefined

  test('three workers with a limit of 40 calls a second take a slot for each call, and can use them', async (context) => {
    if (isMissing(queue)) return context.skip()
    live = await openLoaded(queue, {
      world: { organizations: 12, documentsPerOrganization: 4, annotationsPerDocument: 6 },
      settings: { SYNC_RATE_LIMIT: '40' },
    })
    const { calls } = live.standIn
    // The store has a next slot from the first call on.
    const { sync } = await live.openApp()
    await sync.collabApi.get('users', { organizationId: 'none' }).catch(() => {})
    await untilUsed(30, async () => {
      calls.reset()
      const nextMs = await nextSlotMs(live as Live)
      const run = await runOnWorkers(live as Live, 3)
      expect(run).toMatchObject({ status: 'succeeded', calls: calls.total })
      // A slot each; the store keeps times to the microsecond.
      const takenMs = (await nextSlotMs(live as Live)) - nextMs
      expect(takenMs).toBeGreaterThan(calls.total * (slotMs(40) - 0.01))
      return meanPerSecond(calls.log.map(({ atMs }) => atMs))
    })
  }, 300_000)

  test('one 429 with Retry-After pauses every worker, not one call', async (context) => {
    if (isMissing(queue)) return context.skip()
    live = await openLoaded(queue, {
      world: { organizations: 12, documentsPerOrganization: 4, annotationsPerDocument: 6 },
      standIn: { latencyMs: 60 },
    })
    live.standIn.setFaults([
      {
        kind: 'too-many-requests',
        retryAfterSeconds: 4,
        times: 1,
        match: { operation: 'comments' },
      },
    ])
    await runOnWorkers(live, 3)
    const { log } = live.standIn.calls
    const refused = log.find(({ status }) => status === 429)
    expect(refused).toBeDefined()
    // Processes hear of it within a second; the last of the four seconds are quiet for all of them.
    const quiet = log.filter(
      ({ atMs }) => atMs > (refused?.atMs ?? 0) + 2000 && atMs < (refused?.atMs ?? 0) + 3800,
    )
    expect(quiet).toEqual([])
    expect(log.some(({ atMs }) => atMs > (refused?.atMs ?? 0) + 3800)).toBe(true)
  }, 300_000)
})

async function runOnWorkers(live: Live, count: number): Promise<RunRow> {
  const workers = await Promise.all(Array.from({ length: count }, () => live.openWorker()))
  const runId = await workers[0]?.startRun()
  const run = await settled(live.database, runId ?? '')
  await Promise.all(workers.map((worker) => worker.stop()))
  return run
}
