import { describe, expect, test } from 'vitest'
import { CallError } from '../../src/base/errors.ts'
import { Breaker } from '../../src/core/service/circuit-breaker.ts'
import type { CallTarget } from '../../src/core/service/errors.ts'

const forbidden = new CallError('forbidden', { kind: 'refused', httpStatus: 403 })
const wrong = new CallError('wrong', { kind: 'refused', httpStatus: 400 })
const exhausted = new CallError('down', { kind: 'retry', httpStatus: 503 })
const denied = new CallError('denied', { kind: 'refused', errorStatus: 'permission_denied' })

function comments(documentId: string, annotationId: string, organizationId = 'o'): CallTarget {
  return {
    operation: 'comments',
    filter: { organizationId, documentId, annotationId },
    secrets: [],
  }
}

function users(documentId: string, organizationId = 'o'): CallTarget {
  return { operation: 'users', filter: { organizationId, documentId }, secrets: [] }
}

function failAll(breaker: Breaker, all: CallTarget[], error: Error, nowMs = 0): void {
  for (const target of all) {
    breaker.check(target, nowMs)
    breaker.failed(target, error, nowMs)
  }
}

const FIVE = ['1', '2', '3', '4', '5']

/** A breaker after these calls failed; by default five listings of users. */
function after(error: Error, targets = FIVE.map((n) => users(n))): Breaker {
  const breaker = new Breaker()
  failAll(breaker, targets, error)
  return breaker
}

describe('the breaker', () => {
  test.each([
    ['forbidden', forbidden],
    ['exhausted', exhausted],
    ['permission_denied', denied],
  ])('opens for one organization and operation after five %s scopes in a row', (_what, error) => {
    const breaker = after(
      error,
      FIVE.slice(0, 4).map((n) => users(n)),
    )
    expect(() => breaker.check(users('6'), 0)).not.toThrow()
    failAll(breaker, [users('5')], error)
    expect(() => breaker.check(users('6'), 0)).toThrow(
      expect.objectContaining({
        kind: 'refused',
        errorStatus: 'breaker_open',
        attempts: 0,
        cause: error,
        message: `Get Users of organizationId "o", documentId "6" was skipped: 5 calls in a row failed here, the last: ${error.message}`,
      }),
    )
    expect(() => breaker.check(users('6', 'other'), 0)).not.toThrow()
    expect(() => breaker.check(comments('6', 'a'), 0)).not.toThrow()
    breaker.forget()
    expect(() => breaker.check(users('6'), 0)).not.toThrow()
  })

  test.each([
    ['a 400', wrong],
    ['an error of the program', new Error('a fault of ours')],
  ])('never counts %s', (_what, error) => {
    const many = Array.from({ length: 50 }, (_, n) => comments(`d${n}`, 'a'))
    expect(() => after(error, many).check(comments('d', 'a'), 0)).not.toThrow()
  })

  test('counts from the start again after a success', () => {
    const four = FIVE.slice(1).map((n) => users(n))
    const breaker = after(forbidden, four)
    breaker.succeeded(users('9'))
    failAll(breaker, four, forbidden)
    expect(() => breaker.check(users('6'), 0)).not.toThrow()
  })

  test('lets one probe through every 30 s, and closes when it succeeds', () => {
    const breaker = after(forbidden)
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

  test('counts a scope that fails again once: comments by document, users by their filter', () => {
    const breaker = new Breaker()
    for (let n = 0; n < 9; n += 1) failAll(breaker, [users('1'), comments('1', `a${n}`)], forbidden)
    expect(() => breaker.check(users('2'), 0)).not.toThrow()
    failAll(
      breaker,
      FIVE.slice(1, 4).map((n) => comments(n, 'a')),
      forbidden,
    )
    expect(() => breaker.check(comments('5', 'a'), 0)).not.toThrow()
    failAll(breaker, [comments('5', 'a')], forbidden)
    expect(() => breaker.check(comments('6', 'a'), 0)).toThrow('5 calls in a row failed here')
  })
})
