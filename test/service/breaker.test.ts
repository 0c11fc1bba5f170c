import { describe, expect, test } from 'vitest'
import { CallError } from '../../src/base/errors.ts'
import { Breaker } from '../../src/core/service/circuit-breaker.ts'
import type { CallTarget } from '../../src/core/service/errors.ts'

const forbidden = new CallError('forbidden', { kind: 'refused', httpStatus: 403 })
const gone = new CallError('gone', { kind: 'refused', httpStatus: 404 })
const wrong = new CallError('wrong', { kind: 'refused', httpStatus: 400 })
const exhausted = new CallError('down', { kind: 'retry', httpStatus: 503 })

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

const five = ['1', '2', '3', '4', '5']

describe('the breaker', () => {
  test.each([
    ['forbidden', forbidden],
    ['exhausted', exhausted],
  ])('opens for one organization and operation after five %s scopes in a row', (_what, error) => {
    const breaker = new Breaker()
    const documents = five.map((n) => users(n))
    failAll(breaker, documents.slice(0, 4), error)
    expect(() => breaker.check(users('6'), 0)).not.toThrow()
    failAll(breaker, documents.slice(4), error)
    expect(() => breaker.check(users('6'), 0)).toThrow(error.message)
    expect(() => breaker.check(users('6', 'other'), 0)).not.toThrow()
    expect(() => breaker.check(comments('6', 'a'), 0)).not.toThrow()
  })

  test('tells of itself by breaker_open, refused, no attempt and the cause', () => {
    const breaker = new Breaker()
    failAll(
      breaker,
      five.map((n) => users(n)),
      forbidden,
    )
    try {
      breaker.check(users('6'), 0)
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({
        kind: 'refused',
        errorStatus: 'breaker_open',
        attempts: 0,
        cause: forbidden,
      })
    }
  })

  test('counts from the start again after a success', () => {
    const breaker = new Breaker()
    failAll(
      breaker,
      five.slice(1).map((n) => users(n)),
      forbidden,
    )
    breaker.succeeded(users('9'))
    failAll(
      breaker,
      five.slice(1).map((n) => users(n)),
      forbidden,
    )
    expect(() => breaker.check(users('6'), 0)).not.toThrow()
  })

  test('never counts a 400 or 404, which speak of one scope', () => {
    const breaker = new Breaker()
    const many = Array.from({ length: 50 }, (_, n) => comments(`d${n}`, 'a'))
    failAll(breaker, many, gone)
    failAll(breaker, many, wrong)
    expect(() => breaker.check(comments('d', 'a'), 0)).not.toThrow()
  })

  test('stays closed for a forbidden document, whose annotations count once', () => {
    const breaker = new Breaker()
    const annotations = Array.from({ length: 50 }, (_, n) => comments('secret', `a${n}`))
    failAll(breaker, annotations, forbidden)
    failAll(
      breaker,
      five.slice(2).map((n) => comments(n, 'a')),
      forbidden,
    )
    expect(() => breaker.check(comments('public', '1'), 0)).not.toThrow()
    failAll(breaker, [comments('public', '1')], forbidden)
    expect(() => breaker.check(comments('other', '1'), 0)).toThrow('5 calls in a row failed here')
  })

  test('lets one probe through every 30 s, and closes when it succeeds', () => {
    const breaker = new Breaker()
    failAll(
      breaker,
      five.map((n) => users(n)),
      forbidden,
    )
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

  test('forgets all for a fresh start', () => {
    const breaker = new Breaker()
    failAll(
      breaker,
      five.map((n) => users(n)),
      forbidden,
    )
    breaker.forget()
    expect(() => breaker.check(users('6'), 0)).not.toThrow()
  })

  test('names what was skipped, how many failed and how the last did', () => {
    const breaker = new Breaker()
    failAll(
      breaker,
      five.map((n) => users(n)),
      forbidden,
    )
    expect(() => breaker.check(users('6'), 0)).toThrow(
      'Get Users of organizationId "o", documentId "6" was skipped: 5 calls in a row failed here, the last: forbidden',
    )
  })

  test('counts PERMISSION_DENIED like a 403, however spelt, and no failure of the program', () => {
    for (const errorStatus of ['PERMISSION_DENIED', 'permission_denied']) {
      const breaker = new Breaker()
      const denied = new CallError('denied', { kind: 'refused', httpStatus: 200, errorStatus })
      failAll(
        breaker,
        five.map((n) => users(n)),
        denied,
      )
      expect(() => breaker.check(users('6'), 0)).toThrow('denied')
    }
    const breaker = new Breaker()
    failAll(
      breaker,
      five.map((n) => users(n)),
      new Error('a fault of ours'),
    )
    expect(() => breaker.check(users('6'), 0)).not.toThrow()
  })

  test('counts a scope that fails again once: comments by document, users by what they ask for', () => {
    const breaker = new Breaker()
    for (let n = 0; n < 9; n += 1) failAll(breaker, [users('1')], forbidden)
    for (let n = 0; n < 9; n += 1) failAll(breaker, [comments('1', 'a')], forbidden)
    expect(() => breaker.check(users('2'), 0)).not.toThrow()
    expect(() => breaker.check(comments('1', 'b'), 0)).not.toThrow()
    failAll(
      breaker,
      ['2', '3', '4', '5'].map((n) => comments(n, 'a')),
      forbidden,
    )
    expect(() => breaker.check(comments('6', 'a'), 0)).toThrow('5 calls in a row failed here')
  })
})
