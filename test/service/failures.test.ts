import { describe, expect, test } from 'vitest'
import type { FailureKind } from '../../src/errors.ts'
import { callFailure, classify, FAILURES, isOverload } from '../../src/service/errors.ts'
import type { FailedCall, Shape } from '../../src/service/errors.ts'

const byHttp: [number[], FailureKind][] = [
  [[408, 425, 429, 500, 502, 503, 504, 599], 'retry'],
  [[400, 403, 404, 409, 413, 422, 301, 302, 307, 308], 'refused'],
  [[401], 'credentials'],
  [[206, 402, 410, 418, 451], 'unknown'],
]
const byCode: [string[], FailureKind][] = [
  [['RESOURCE_EXHAUSTED', 'UNAVAILABLE', 'DEADLINE_EXCEEDED', 'INTERNAL', 'ABORTED'], 'retry'],
  [['INVALID_ARGUMENT', 'PERMISSION_DENIED', 'NOT_FOUND', 'ALREADY_EXISTS'], 'refused'],
  [['FAILED_PRECONDITION', 'OUT_OF_RANGE', 'UNIMPLEMENTED', 'not-found', ' 404 '], 'refused'],
  [['UNAUTHENTICATED', 'unauthenticated', '401'], 'credentials'],
  [['503', 'resource-exhausted', ' deadline - exceeded '], 'retry'],
  [['SOMETHING_ELSE', 'CANCELLED', '299', '4040', 'E404', ''], 'unknown'],
]
const byShape: [Shape[], FailureKind][] = [
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

  test('the HTTP status decides before the code, and the code before the shape', () => {
    expect(classify({ httpStatus: 500, code: 'NOT_FOUND', shape: null })).toBe('retry')
    expect(classify({ httpStatus: 400, code: 'INTERNAL', shape: 'body_cut' })).toBe('refused')
    expect(classify({ httpStatus: 418, code: 'NOT_FOUND', shape: null })).toBe('refused')
    expect(classify({ httpStatus: 200, code: 'NOT_FOUND', shape: 'no_data' })).toBe('refused')
    expect(classify({ httpStatus: 200, code: 'NEVER_SEEN', shape: 'no_data' })).toBe('unknown')
  })

  test('without status, code and shape it is unknown', () => {
    expect(classify({ httpStatus: null, code: null, shape: null })).toBe('unknown')
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

  test('429, 503 and their codes are overload, other failures are not', () => {
    const overloads = [
      { httpStatus: 429, errorStatus: null },
      { httpStatus: 503, errorStatus: null },
      { httpStatus: 200, errorStatus: 'resource-exhausted' },
      { httpStatus: 200, errorStatus: 'UNAVAILABLE' },
      { httpStatus: 200, errorStatus: '429' },
      { httpStatus: 200, errorStatus: '503' },
    ]
    expect(overloads.filter((failure) => !isOverload(failure))).toEqual([])
    expect(isOverload({ httpStatus: 500, errorStatus: null })).toBe(false)
    expect(isOverload({ httpStatus: 500, errorStatus: 'INTERNAL' })).toBe(false)
    expect(isOverload({ httpStatus: null, errorStatus: 'timeout' })).toBe(false)
  })
})

describe('the error of a call', () => {
  const secrets = ['key-1', 'token-2']
  function errorOf(failed: FailedCall) {
    return callFailure({ operation: 'users', filter: { organizationId: 'o' }, secrets }, failed)
  }

  test.each<[FailedCall, string, object]>([
    [
      { httpStatus: 404, code: 'NOT_FOUND', detail: 'no such thing' },
      'HTTP 404 NOT_FOUND, no such thing',
      { kind: 'refused', httpStatus: 404, errorStatus: 'NOT_FOUND' },
    ],
    [
      { httpStatus: 500, detail: '' },
      'HTTP 500',
      { kind: 'retry', httpStatus: 500, errorStatus: null },
    ],
    [
      { shape: 'timeout', detail: 'no answer in 2 s' },
      'no answer in 2 s',
      { kind: 'retry', httpStatus: null, errorStatus: 'timeout' },
    ],
    [
      { code: 'ABORTED', detail: '' },
      'ABORTED',
      { kind: 'retry', httpStatus: null, errorStatus: 'ABORTED' },
    ],
    [
      { httpStatus: 302, shape: 'redirect', detail: 'a redirect' },
      'HTTP 302, a redirect',
      { kind: 'refused', httpStatus: 302, errorStatus: 'redirect' },
    ],
  ])('of %j is told as: %s', (failed, told, facts) => {
    const error = errorOf(failed)
    expect(error.message).toBe(`Get Users of organizationId "o" failed: ${told}`)
    expect(error).toMatchObject({ ...facts, retryAfterMs: null, attempts: 1 })
  })

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
