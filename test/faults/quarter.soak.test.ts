import { describe, expect, test } from 'vitest'
import { quarterOfAllCallsTenWays } from '../service/faults.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { QUEUE_KINDS, isMissing, openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

describe.each(QUEUE_KINDS)('a quarter of all calls fails, with the queue on %s', (queue) => {
  let live: Live | undefined

  test('in ten ways, and the run succeeds with the tables equal to the world', async (context) => {
    if (isMissing(queue)) return context.skip()
    live = await openLoaded(queue, { world: { annotationsPerDocument: 30 } })
    live.standIn.setFaults(quarterOfAllCallsTenWays(1))
    const run = await live.run()
    expect(run).toMatchObject({ status: 'succeeded', problem: null, scopes_failed: 0 })
    await expectTablesEqual(live.database, live.world)
    const { byFault, total } = live.standIn.calls
    expect(Object.keys(byFault).length).toBeGreaterThanOrEqual(9)
    const faults = Object.values(byFault).reduce((sum, count) => sum + count, 0)
    expect(faults / total).toBeGreaterThan(0.15)
    expect(run).toMatchObject({ calls: total, retries: faults })
  }, 300_000)
})
