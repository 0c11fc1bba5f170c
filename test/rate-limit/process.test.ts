import { expect, test } from 'vitest'
import { createLog } from '../../src/log.ts'
import { openProcessRateLimit } from '../../src/rate-limit/limiter.ts'

test('without a limit one process lets everybody go, but for a pause', async () => {
  const pace = openProcessRateLimit({ callsPerSecond: null, log: createLog('silent') })
  await Promise.all(Array.from({ length: 10_000 }, () => pace.acquire()))
  const startMs = Date.now()
  void pace.pauseAll(200)
  void pace.pauseAll(10)
  await Promise.all([pace.acquire(), pace.acquire()])
  expect(Date.now() - startMs).toBeGreaterThanOrEqual(180)
  await pace.close()
})
