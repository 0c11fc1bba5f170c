import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CallError } from '../../src/base/errors.ts'
import type { FailureKind } from '../../src/base/errors.ts'
import { callFailure, classify, FAILURES, isUnavailable } from '../../src/core/service/errors.ts'
import type { FailedCall, Shape } from '../../src/core/service/errors.ts'

const byHttp: [number[], FailureKind][] = [
  [[408, 425, 500, 502, 503, 504, 599], 'retry'],
  [[429], 'throttled'],
  [[400, 403, 404, 409, 413, 422, 301, 302, 307, 308], 'refused'],
  [[401], 'credentials'],
  [[407], 'unreachable'],
  [[206, 402, 410, 418, 451], 'unknown'],
]
const byCode: [string[], FailureKind][] = [
  [['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'INTERNAL', 'ABORTED'], 'retry'],
  [['RESOURCE_EXHAUSTED', 'resource-exhausted', 'TOO_MANY_REQUESTS', '429'], 'throttled'],
  [['INVALID_ARGUMENT', 'PERMISSION_DENIED', 'NOT_FOUND', 'ALREADY_EXISTS'], 'refused'],
  [['FAILED_PRECONDITION', 'OUT_OF_RANGE', 'UNIMPLEMENTED', 'not-found', ' 404 '], 'refused'],
  [['UNAUTHENTICATED', 'unauthenticated', '401'], 'credentials'],
  [['503', ' deadline - exceeded '], 'retry'],
  [['SOMETHING_ELSE', 'CANCELLED', '299', '4040', 'E404', ''], 'unknown'],
]
const byShape: [Shape[], FailureKind][] = [
  [['unreachable'], 'unreachable'],
  [['timeout', 'connection', 'body_cut', 'body_empty', 'body_unreadable', 'no_data'], 'retry'],
  [['error_without_code', 'body_ambiguous'], 'retry'],
  [['body_too_large', 'too_many_records'], 'refused'],
  [['failed_status'], 'unknown'],
]

describe('what a failure means', () => {
  test.each(byHttp.flatMap(([list, kind]) => list.map((status) => [status, kind] as const)))(
    'HTTP %d is %s',
    (httpStatus, kind) => {
      expect(classify({ httpStatus, code: null, shape: null })).toBe(kind)
    },
  )

  test.each(byCode.flatMap(([list, kind]) => list.map((code) => [code, kind] as const)))(
    'error.status %s under HTTP 200 is %s',
    (code, kind) => {
      expect(classify({ httpStatus: 200, code, shape: null })).toBe(kind)
    },
  )

  test.each(byShape.flatMap(([list, kind]) => list.map((shape) => [shape, kind] as const)))(
    'the shape %s is %s',
    (shape, kind) => {
      expect(classify({ httpStatus: 200, code: null, shape })).toBe(kind)
    },
  )

  test.each<[Omit<FailedCall, 'detail'>, FailureKind]>([
    [{ httpStatus: 403, code: 'RESOURCE_EXHAUSTED', shape: null }, 'throttled'],
    [{ httpStatus: 403, code: null, shape: null, retryAfterMs: 0 }, 'throttled'],
    [{ httpStatus: 503, code: 'UNAVAILABLE', shape: null, retryAfterMs: 0 }, 'throttled'],
    [{ httpStatus: 409, code: 'ABORTED', shape: null }, 'retry'],
    [{ httpStatus: 409, code: 'aborted', shape: null, retryAfterMs: 0 }, 'throttled'],
    [{ httpStatus: 401, code: 'RESOURCE_EXHAUSTED', shape: null, retryAfterMs: 0 }, 'credentials'],
    [{ httpStatus: 403, code: 'UNAUTHENTICATED', shape: null }, 'credentials'],
    [{ httpStatus: 307, code: null, shape: null, retryAfterMs: 0 }, 'refused'],
    [{ httpStatus: 500, code: 'NOT_FOUND', shape: null }, 'refused'],
    [{ httpStatus: 400, code: 'INTERNAL', shape: 'body_cut' }, 'retry'],
    [{ httpStatus: 404, code: '503', shape: null }, 'retry'],
    [{ httpStatus: 404, code: 'NEVER_SEEN', shape: null }, 'refused'],
    [{ httpStatus: 200, code: 'NOT_FOUND', shape: 'no_data' }, 'refused'],
    [{ httpStatus: 200, code: 'NEVER_SEEN', shape: 'no_data' }, 'unknown'],
    [{ httpStatus: 200, code: null, shape: 'body_empty', retryAfterMs: 0 }, 'throttled'],
  ])('the first row that is met decides: %j', (facts, kind) => {
    expect(classify(facts)).toBe(kind)
  })

  test('without status, code and shape it is unknown', () => {
    expect(classify({})).toBe('unknown')
  })

  test('no failure has two meanings, and every row has its reason', () => {
    const all = FAILURES.flatMap((row) => [
      ...(row.http ?? []),
      ...(row.code ?? []),
      ...(row.shape ?? []),
    ])
    expect(new Set(all).size).toBe(all.length)
    expect(FAILURES.filter((row) => row.because.length < 5)).toEqual([])
  })

  test('docs/FAILURES.md has the table as it is', () => {
    const rows = FAILURES.map(({ http = [], code = [], retryAfter, shape = [], kind, because }) => {
      const words = [...code, ...shape].map((word) => `\`${word}\``)
      const met = [...http.map((status) => `HTTP ${status}`), ...words]
      if (retryAfter) met.push('`Retry-After`')
      return `| ${met.join(', ')} | ${kind} | ${because} |`
    })
    const page = readFileSync(join(import.meta.dirname, '../../docs/FAILURES.md'), 'utf8')
    expect(page.replaceAll(/ +/g, ' ')).toContain(rows.join('\n'))
  })

  test('503 and its codes say that the service is not there, other failures do not', () => {
    const isSo = (httpStatus: number | null, errorStatus: string | null): boolean =>
      isUnavailable(new CallError('', { kind: 'retry', httpStatus, errorStatus }))
    expect([isSo(503, null), isSo(200, 'unavailable'), isSo(200, '503')]).not.toContain(false)
    expect([isSo(500, null), isSo(500, 'INTERNAL'), isSo(null, 'timeout')]).not.toContain(true)
  })
})

describe('the error of a call', () => {
  const secrets = ['key-1', 'token-2']
  function errorOf(failed: FailedCall) {
    return callFailure({ operation: 'users', filter: { organizationId: 'o' }, secrets }, failed)
  }

  test('keeps Retry-After and the cause', () => {
    const cause = new Error('reset')
    const error = errorOf({ shape: 'connection', detail: '', retryAfterMs: 7, cause })
    expect(error).toMatchObject({ retryAfterMs: 7, cause })
    expect(errorOf({ shape: 'connection', detail: '' })).not.toHaveProperty('cause')
  })

  test('holds no credential, wherever and however often the service repeats it', () => {
    const detail = 'key-1 and token-2, key-1'
    const error = errorOf({ httpStatus: 403, code: 'token-2 key-1', detail })
    expect(error.errorStatus).toBe('[secret] [secret]')
    expect(error.message).toMatch(
      /HTTP 403 \[secret\] \[secret\], \[secret\] and \[secret\], \[secret\]$/,
    )
  })

  test('is cut where the service says much', () => {
    const error = errorOf({ code: 'C'.repeat(500), detail: 'd'.repeat(500) })
    expect(error.errorStatus).toBe('C'.repeat(100))
    expect(error.message).toMatch(/ failed: C{100}, d{300}$/)
  })
})
