import { describe, expect, test } from 'vitest'
import { DrainingError } from '../../src/base/errors.ts'
import { ConcurrencyLimit } from '../../src/core/service/concurrency.ts'
import type { CallOutcome } from '../../src/core/service/concurrency.ts'

/** A gate by a clock that the test moves. */
function gateOf(max: number): { gate: ConcurrencyLimit; passMs(ms: number): void } {
  let now = 0
  return {
    gate: new ConcurrencyLimit(max, () => now),
    passMs: (ms) => (now += ms),
  }
}

/** Ends a call. */
function leave(gate: ConcurrencyLimit, outcome: CallOutcome, latencyMs: number): void {
  gate.learn(outcome, latencyMs)
  gate.leave()
}

function succeed(gate: ConcurrencyLimit, times: number, latencyMs = 10): void {
  for (let n = 0; n < times; n += 1) {
    expect(gate.enter()).toBeNull()
    leave(gate, 'success', latencyMs)
  }
}

describe('the gate', () => {
  test('closing sends away who waits and lets nobody in', async () => {
    const { gate } = gateOf(1)
    gate.enter()
    const waiting = gate.enter()
    gate.close()
    await expect(waiting).rejects.toThrow(DrainingError)
    expect(() => gate.enter()).toThrow(DrainingError)
  })

  test('lets calls of high priority overtake those of normal priority that wait, three to one', async () => {
    const { gate } = gateOf(1)
    gate.enter()
    const order: string[] = []
    const wait = async (name: string, priority: 'high' | 'normal') => {
      await gate.enter(undefined, priority)
      order.push(name)
      leave(gate, 'success', 1)
    }
    const waits = [wait('n', 'normal'), wait('n', 'normal')]
    for (let n = 0; n < 5; n += 1) waits.push(wait('h', 'high'))
    leave(gate, 'success', 1)
    await Promise.all(waits)
    expect(order.join('')).toBe('hhhnhhn')
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
        leave(gate, 'overload', 5)
      }
      limits.push(gate.snapshot().limit)
    }
    expect(limits).toEqual([8, 4, 2, 1, 1, 1])
  })

  test('rises by one for each limit successes, up to the own number', () => {
    const { gate } = gateOf(4)
    gate.enter()
    leave(gate, 'overload', 5)
    expect(gate.snapshot().limit).toBe(2)
    succeed(gate, 1)
    expect(gate.snapshot().limit).toBe(2)
    succeed(gate, 1)
    expect(gate.snapshot().limit).toBe(3)
    succeed(gate, 100)
    expect(gate.snapshot().limit).toBe(4)
  })

  test('halves when a call times out, and does not move for failures that say nothing of load', () => {
    const { gate } = gateOf(8)
    gate.enter()
    leave(gate, 'transient', 30_000)
    expect(gate.snapshot().limit).toBe(8)
    gate.enter()
    leave(gate, 'timeout', 30_000)
    expect(gate.snapshot().limit).toBe(4)
  })

  test('keeps more out after a halving until enough have left', () => {
    const { gate } = gateOf(4)
    for (let n = 0; n < 4; n += 1) gate.enter()
    void gate.enter()
    leave(gate, 'overload', 5)
    leave(gate, 'transient', 5)
    expect(gate.snapshot()).toMatchObject({ limit: 2, permits: 2, waiting: 1 })
    leave(gate, 'transient', 5)
    expect(gate.snapshot()).toMatchObject({ permits: 2, waiting: 0 })
  })

  test('waits for the calls in flight between two halvings: the average of what one takes, a second at least', () => {
    const { gate, passMs } = gateOf(64)
    succeed(gate, 1, 5000)
    const limitAfter = (ms: number) => {
      passMs(ms)
      gate.enter()
      leave(gate, 'overload', 0)
      return gate.snapshot().limit
    }
    expect([limitAfter(0), limitAfter(4999), limitAfter(1)]).toEqual([32, 32, 16])
  })

  test('rises for successes alone, counted from the last halving', () => {
    const { gate, passMs } = gateOf(8)
    gate.learn('overload', 0)
    for (let n = 0; n < 20; n += 1) gate.learn('transient', 1)
    expect(gate.snapshot().limit).toBe(4)
    succeed(gate, 3)
    passMs(1000)
    gate.learn('overload', 0)
    succeed(gate, 1)
    expect(gate.snapshot().limit).toBe(2)
    succeed(gate, 1)
    expect(gate.snapshot().limit).toBe(3)
  })
})
