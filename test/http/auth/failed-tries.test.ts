import { describe, expect, test } from 'vitest'
import { FailedTries } from '../../../src/http/auth/tokens.ts'

const LIMITS = {
  ofAddress: { max: 3, refillMs: 1000 },
  ofAll: { max: 5, refillMs: 1000 },
}

describe('failed tries', () => {
  test('are answered later and later, then not looked at until time has passed', () => {
    const tries = new FailedTries(LIMITS)
    const delays = [1, 2, 3].map(() => tries.fail('10.0.0.1', 0))
    expect(delays).toEqual(delays.toSorted((a, b) => a - b))
    expect(new Set(delays).size).toBe(3)
    expect(tries.secondsToWait('10.0.0.1', 0)).toBe(1)
    expect(tries.secondsToWait('10.0.0.1', 999)).toBe(1)
    expect(tries.secondsToWait('10.0.0.1', 1000)).toBe(0)
    expect(tries.secondsToWait('10.0.0.2', 0)).toBe(0)
  })

  test('from many addresses slow down wrong ones from any other', () => {
    const tries = new FailedTries(LIMITS)
    for (const each of [1, 2, 3, 4, 5]) tries.fail(`10.1.0.${each}`, 0)
    expect(tries.secondsToWait('10.2.0.1', 0)).toBe(1)
  })

  test('of all addresses of one IPv6 network are those of one', () => {
    const tries = new FailedTries(LIMITS)
    for (const address of ['2001:db8::1', '2001:db8:0:0:ffff::2', '2001:db8::3'])
      tries.fail(address, 0)
    expect(tries.secondsToWait('2001:db8::4', 0)).toBe(1)
    expect(tries.secondsToWait('2001:db8:0:1::4', 0)).toBe(0)
    expect(tries.secondsToWait('::ffff:10.0.0.1', 0)).toBe(0)
  })

  test('from any number of addresses take no more memory than those of ten thousand', () => {
    const tries = new FailedTries({ ...LIMITS, ofAll: { max: 1_000_000, refillMs: 1 } })
    for (let each = 0; each < 3; each += 1) tries.fail('first', 0)
    for (let each = 0; each < 10_000; each += 1) tries.fail(`address-${each}`, 0)
    expect(tries.secondsToWait('first', 0)).toBe(0)
  })
})
