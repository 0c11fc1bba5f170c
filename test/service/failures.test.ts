import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CallError } from '../../src/base/errors.ts'
import type { FailureKind } from '../../src/base/errors.ts'
import { callFailure, classify, FAILURES, isUnavailable } from '../../src/core/service/errors.ts'
import type { FailedCall } from '../../src/core/service/errors.ts'

describe('what a failure means', () => {
  test.each<[Omit<FailedCall, 'detail'>, FailureKind]>([
    [{}, 'unknown'],
    [{ httpStatus: 599 }, 'retry'],
    [{ httpStatus: 302 }, 'refused'],
    [{ httpStatus: 418 }, 'unknown'],
    [{ httpStatus: 200, code: 'resource-exhausted' }, 'throttled'],
    [{ httpStatus: 200, code: ' deadline - exceeded ' }, 'retry'],
    [{ httpStatus: 200, code: ' 404 ' }, 'refused'],
    [{ httpStatus: 200, code: '5030' }, 'unknown'],
    [{ httpStatus: 200, code: 'E404' }, 'unknown'],
    [{ httpStatus: 200, code: '' }, 'unknown'],
    [{ shape: 'unreachable' }, 'unreachable'],
    [{ httpStatus: 403, code: 'RESOURCE_EXHAUSTED' }, 'throttled'],
    [{ httpStatus: 403, retryAfterMs: 0 }, 'throttled'],
    [{ httpStatus: 409, code: 'ABORTED' }, 'retry'],
    [{ httpStatus: 401, code: 'RESOURCE_EXHAUSTED', retryAfterMs: 0 }, 'credentials'],
    [{ httpStatus: 307, retryAfterMs: 0 }, 'refused'],
    [{ httpStatus: 500, code: 'NOT_FOUND' }, 'refused'],
    [{ httpStatus: 400, code: 'INTERNAL', shape: 'body_cut' }, 'retry'],
    [{ httpStatus: 404, code: '503' }, 'retry'],
    [{ httpStatus: 404, code: 'NEVER_SEEN' }, 'refused'],
    [{ httpStatus: 200, code: 'NOT_FOUND', shape: 'no_data' }, 'refused'],
    [{ httpStatus: 200, code: 'NEVER_SEEN', shape: 'no_data' }, 'unknown'],
    [{ httpStatus: 200, shape: 'body_empty', retryAfterMs: 0 }, 'throttled'],
  ])('the first row that is met decides: %j', (facts, kind) => {
    expect(classify(facts)).toBe(kind)
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
