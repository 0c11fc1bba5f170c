import { describe, expect, test } from 'vitest'
import { DrainingError } from '../../src/errors.ts'
import { ConcurrencyLimit } from '../../src/service/concurrency.ts'

/** A gate by a clock that the test moves. */
function gateOf(max: number): { gate: ConcurrencyLimit; passMs(ms: number): void } {
  let now = 0
  return { gate: new ConcurrencyLimit(max, () => now), passMs: (ms) => (now += ms) }
}

function succeed(gate: ConcurrencyLimit, times: number, latencyMs = 10): void {
  for (let n = 0; n < times; n += 1) {
    expect(gate.enter()).toBeNull()
    gate.leave('success', latencyMs)
  }
}

describe('the gate', () => {
  test('lets its limit in at once and the rest in the order of asking', async () => {
    const { gate } = gateOf(2)
    expect([gate.enter(), gate.enter()]).toEqual([null, null])
    const order: number[] = []
    const waits = [1, 2, 3].map(async (n) => {
      await gate.enter()
      order.push(n)
      gate.leave('success', 1)
    })
    expect(gate.snapshot()).toMatchObject({ inFlight: 2, waiting: 3, limit: 2 })
    gate.leave('success', 1)
    await Promise.all(waits)
    expect(order).toEqual([1, 2, 3])
    expect(gate.snapshot()).toMatchObject({ inFlight: 1, waiting: 0 })
  })

  test('a newcomer never overtakes who waits', () => {
    const { gate } = gateOf(1)
    gate.enter()
    void gate.enter()
    gate.leave('success', 1)
    expect(gate.snapshot()).toMatchObject({ inFlight: 1, waiting: 0 })
    expect(gate.enter()).not.toBeNull()
  })

  test('who gives up leaves the line, and the next one is let in', async () => {
    const { gate } = gateOf(1)
    gate.enter()
    const stop = new AbortController()
    const first = gate.enter(stop.signal)
    const second = gate.enter()
    stop.abort(new Error('enough'))
    await expect(first).rejects.toThrow('enough')
    gate.leave('success', 1)
    await second
    expect(gate.snapshot()).toMatchObject({ inFlight: 1, waiting: 0 })
  })

  test('closing sends away who waits and lets nobody in', async () => {
    const { gate } = gateOf(1)
    gate.enter()
    const waiting = gate.enter()
    gate.close()
    await expect(waiting).rejects.toThrow(DrainingError)
    expect(() => gate.enter()).toThrow(DrainingError)
  })
})

describe('the limit of the gate', () => {
  test('halves on overload, at most once a second, and never below one', () => {
    const { gate, passMs } = gateOf(16)
    const limits: number[] = []
    for (let n = 0; n < 6; n += 1) {
      passMs(1000)
      for (let burst = 0; burst < 3; burst += 1) {
        gate.enter()
        gate.leave('overload', 5)
      }
      limits.push(gate.snapshot().limit)
    }
    expect(limits).toEqual([8, 4, 2, 1, 1, 1])
  })

  test('rises by one for each limit successes, up to the own number', () => {
    const { gate } = gateOf(4)
    gate.enter()
    gate.leave('overload', 5)
    expect(gate.snapshot().limit).toBe(2)
    succeed(gate, 1)
    expect(gate.snapshot().limit).toBe(2)
    succeed(gate, 1)
    expect(gate.snapshot().limit).toBe(3)
    succeed(gate, 3)
    expect(gate.snapshot().limit).toBe(4)
    succeed(gate, 100)
    expect(gate.snapshot().limit).toBe(4)
  })

  test('halves on a lasting latency jump, then takes the new pace for what it is', () => {
    const { gate, passMs } = gateOf(64)
    succeed(gate, 100, 20)
    expect(gate.snapshot().limit).toBe(64)
    let lowest = 64
    for (let n = 0; n < 2000; n += 1) {
      passMs(100)
      succeed(gate, 1, 3000)
      lowest = Math.min(lowest, gate.snapshot().limit)
    }
    expect(lowest).toBeLessThanOrEqual(32)
    expect(gate.snapshot().limit).toBeGreaterThan(lowest)
    expect(gate.snapshot().latencyMsEwma).toBeCloseTo(3000, 0)
  })

  test('does not move for one slow call, nor for failures that say nothing of load', () => {
    const { gate, passMs } = gateOf(8)
    succeed(gate, 50, 20)
    passMs(10_000)
    gate.enter()
    gate.leave('timeout', 30_000)
    gate.enter()
    gate.leave('other', 30_000)
    expect(gate.snapshot().limit).toBe(8)
  })

  test('keeps more out after a halving until enough have left', () => {
    const { gate } = gateOf(4)
    for (let n = 0; n < 4; n += 1) gate.enter()
    void gate.enter()
    gate.leave('overload', 5)
    gate.leave('other', 5)
    expect(gate.snapshot()).toMatchObject({ limit: 2, inFlight: 2, waiting: 1 })
    gate.leave('other', 5)
    expect(gate.snapshot()).toMatchObject({ inFlight: 2, waiting: 0 })
  })
})
