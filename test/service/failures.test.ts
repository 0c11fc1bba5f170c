import { describe, expect, test } from 'vitest'
import type { FailureKind } from '../../src/errors.ts'
import { classify, FAILURES, isOverload } from '../../src/service/errors.ts'
import type { Shape } from '../../src/service/errors.ts'

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
  [['503', 'resource-exhausted'], 'retry'],
  [['SOMETHING_ELSE', 'CANCELLED', '299'], 'unknown'],
]
const byShape: [Shape[], FailureKind][] = [
  [['timeout', 'connection', 'body_cut', 'body_empty', 'body_unreadable', 'no_data'], 'retry'],
  [['error_without_code'], 'retry'],
  [['body_too_large'], 'refused'],
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
    ]
    expect(overloads.map(isOverload)).toEqual([true, true, true, true])
    expect(isOverload({ httpStatus: 500, errorStatus: 'INTERNAL' })).toBe(false)
    expect(isOverload({ httpStatus: null, errorStatus: 'timeout' })).toBe(false)
  })
})
