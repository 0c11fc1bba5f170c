import { describe, expect, test } from 'vitest'
import { CallError } from '../../src/base/errors.ts'
import { Breaker } from '../../src/core/service/circuit-breaker.ts'
import type { CallTarget } from '../../src/core/service/errors.ts'

const forbidden = new CallError('forbidden', { kind: 'refused', httpStatus: 403 })

/** A call by its documented filter: `comments` of a document and an annotation, `users` of a document. */
const comments = (documentId: string, annotationId: string, commentIds?: number[]): CallTarget => ({
  operation: 'comments',
  filter: { organizationId: 'o', documentId, annotationId, ...(commentIds && { commentIds }) },
  secrets: [],
})
const users = (documentId: string): CallTarget => ({
  operation: 'users',
  filter: { organizationId: 'o', documentId },
  secrets: [],
})
const many = <T>(of: (n: string) => T): T[] => Array.from({ length: 9 }, (_, n) => of(`${n + 1}`))

/** A breaker after these calls failed one after another. */
function after(failing: readonly CallTarget[], error: Error = forbidden, breaker = new Breaker()) {
  for (const target of failing) {
    breaker.check(target, 0)
    breaker.failed(target, error, 0)
  }
  return breaker
}
const FIVE = many(users).slice(0, 5)

/** Which failures open it for its operation and organization: attempt.test.ts. */
describe('the breaker', () => {
  test.each<[string, CallTarget[]]>([
    ['listing of users', [users('1')]],
    ['document, by whichever annotation', many((n) => comments('1', n))],
    ['document, by whichever comments', many((n) => comments('1', 'a', [Number(n)]))],
  ])('counts each %s once', (_what, calls) => {
    const [{ operation }] = calls as [CallTarget]
    const other = operation === 'users' ? users : (n: string) => comments(n, 'a')
    const breaker = after([...calls, ...calls, ...['2', '3', '4'].map(other)])
    expect(() => breaker.check(other('5'), 0)).not.toThrow()
    after([other('5')], forbidden, breaker)
    expect(() => breaker.check(other('6'), 0)).toThrow('5 calls in a row failed here')
  })

  test('never counts an error of the program', () => {
    const breaker = after(many(users), new Error('a fault of ours'))
    expect(() => breaker.check(users('d'), 0)).not.toThrow()
  })

  test('counts from the start again after a success', () => {
    const four = FIVE.slice(1)
    const breaker = after(four)
    breaker.succeeded(users('9'))
    expect(() => after(four, forbidden, breaker).check(users('6'), 0)).not.toThrow()
  })

  test('lets one probe through every 30 s, and closes when it succeeds', () => {
    const breaker = after(FIVE)
    // In flight when it opened.
    breaker.failed(users('7'), forbidden, 20_000)
    for (const ms of [30_000, 60_000, 90_000]) {
      expect(() => breaker.check(users('6'), ms - 1)).toThrow(CallError)
      breaker.check(users('6'), ms)
      expect(() => breaker.check(users('7'), ms)).toThrow(CallError)
      breaker.failed(users('6'), forbidden, ms)
    }
    breaker.check(users('6'), 120_000)
    breaker.succeeded(users('6'))
    expect(() => breaker.check(users('7'), 120_000)).not.toThrow()
  })
})
