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

/** Calls that end one after another, and what passes between them. */
const CALLS: Record<string, [CallOutcome, latencyMs: number]> = {
  success: ['success', 10],
  slow: ['success', 5000],
  overload: ['overload', 5],
  timeout: ['timeout', 30_000],
  transient: ['transient', 30_000],
}
const again = (call: string, times: number) => `${call} `.repeat(times).trim()

describe('the limit of the gate', () => {
  test.each<[string, max: number, ...steps: [calls: string, limit: number][]]>([
    [
      'halves on overload, at most once a second, and never below one',
      16,
      ...[8, 4, 2, 1, 1, 1].map((n): [string, number] => [`1000ms ${again('overload', 3)}`, n]),
    ],
    [
      'rises by one for each limit successes, up to the own number',
      4,
      ['overload', 2],
      ['success', 2],
      ['success', 3],
      [again('success', 100), 4],
    ],
    [
      'halves when a call times out, and does not move for failures that say nothing of load',
      8,
      ['transient', 8],
      ['timeout', 4],
    ],
    [
      'waits for the calls in flight between two halvings: the average of what one takes, a second at least',
      64,
      ['slow overload', 32],
      ['4999ms overload', 32],
      ['1ms overload', 16],
    ],
    [
      'rises for successes alone, counted from the last halving',
      8,
      [`overload ${again('transient', 20)}`, 4],
      ['success success success 1000ms overload success', 2],
      ['success', 3],
    ],
  ])('%s', (_what, max, ...steps) => {
    const { gate, passMs } = gateOf(max)
    for (const [calls, limit] of steps) {
      for (const each of calls.split(' ')) {
        const call = CALLS[each]
        if (call === undefined) passMs(Number.parseInt(each))
        else {
          expect(gate.enter()).toBeNull()
          leave(gate, ...call)
        }
      }
      expect(gate.snapshot().limit, calls).toBe(limit)
    }
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
})
