import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { CallError } from '../../src/errors.ts'
import { readAnswer } from '../../src/service/answer.ts'
import type { Asked } from '../../src/service/errors.ts'

const asked: Asked = {
  operation: 'comments',
  filter: { organizationId: 'o', documentId: 'd', annotationId: 'a' },
  secrets: ['s3cret'],
}

function reply(body: unknown, httpStatus = 200): Parameters<typeof readAnswer>[0] {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return { httpStatus, retryAfterMs: null, body: bytes }
}

function failure(body: unknown, httpStatus = 200): CallError {
  try {
    readAnswer(reply(body, httpStatus), asked)
  } catch (error) {
    if (error instanceof CallError) return error
    throw error
  }
  throw new Error('it was taken as a success')
}

const good = { result: { status: 'success', message: 'ok', data: [{ commentId: 1 }, null] } }

describe('a success', () => {
  test('gives its data, its text and the first 16 bytes of its SHA-256', () => {
    const text = JSON.stringify(good)
    expect(readAnswer(reply(text), asked)).toEqual({
      status: 'data',
      digest: createHash('sha256').update(text).digest().subarray(0, 16),
      data: good.result.data,
      dataText: text.slice(text.indexOf('['), text.lastIndexOf(']') + 1),
      paged: false,
    })
  })

  test('with the same bytes as before is told by its digest, and not parsed', () => {
    const notJson = Buffer.from('not JSON at all')
    const digest = createHash('sha256').update(notJson).digest().subarray(0, 16)
    expect(readAnswer(reply(notJson), asked, digest)).toEqual({ status: 'same-bytes', digest })
    expect(() => readAnswer(reply(notJson, 500), asked, digest)).toThrow(CallError)
  })

  test('with other bytes than before is parsed', () => {
    expect(readAnswer(reply(good), asked, Buffer.alloc(16)).status).toBe('data')
  })

  test.each([
    ['another word in result.status', { result: { status: 'OK', data: [] } }],
    ['no result.status', { result: { data: [] } }],
    ['a null error', { result: { data: [] }, error: null }],
  ])('is also one with %s', (_what, body) => {
    expect(readAnswer(reply(body), asked)).toMatchObject({ status: 'data', data: [] })
  })

  test('may start with a byte order mark', () => {
    const body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(JSON.stringify(good))])
    expect(readAnswer(reply(body), asked)).toMatchObject({ data: good.result.data })
  })
})

describe('a failure', () => {
  test.each([
    ['an empty body', '', 'retry', 'body_empty'],
    ['truncated JSON', '{"result":{"data":[', 'retry', 'body_unreadable'],
    ['HTML', '<html>', 'retry', 'body_unreadable'],
    ['invalid UTF-8', Buffer.from('7b22c3287d', 'hex'), 'retry', 'body_unreadable'],
    ['a bare list', [], 'retry', 'no_data'],
    ['null', null, 'retry', 'no_data'],
    ['no result', { data: [] }, 'retry', 'no_data'],
    ['result.data that is no list', { result: { data: {} } }, 'retry', 'no_data'],
    ['an error without a code', { error: { message: 'x' } }, 'retry', 'error_without_code'],
    ['an error that is a text', { error: 'x' }, 'retry', 'error_without_code'],
    ['an error beside data', { error: { status: 'NOT_FOUND' }, ...good }, 'refused', 'NOT_FOUND'],
    ['a transient code', { error: { status: 'UNAVAILABLE' } }, 'retry', 'UNAVAILABLE'],
    ['a code never seen', { error: { status: 'odd' } }, 'unknown', 'odd'],
    ['a number as code', { error: { status: 401 } }, 'credentials', '401'],
    [
      'a failing result.status',
      { result: { status: 'Error', data: [] } },
      'unknown',
      'failed_status',
    ],
  ])('under HTTP 200 is %s', (_what, body, kind, errorStatus) => {
    expect(failure(body)).toMatchObject({ kind, errorStatus, httpStatus: 200 })
  })

  test('keeps the HTTP status and the code of the body', () => {
    const body = { error: { status: 'INVALID_ARGUMENT', message: 'Error retrieving user(s).' } }
    const error = failure(body, 400)
    expect(error).toMatchObject({ httpStatus: 400, errorStatus: 'INVALID_ARGUMENT' })
    expect(error.message).toBe(
      'Get Comments of organizationId "o", documentId "d", annotationId "a" failed: HTTP 400 INVALID_ARGUMENT, Error retrieving user(s).',
    )
  })

  test('under HTTP 500 with HTML has no code and none of the HTML', () => {
    expect(failure('<html>oops</html>', 500)).toMatchObject({ kind: 'retry', errorStatus: null })
    expect(failure('<html>oops</html>', 500).message).not.toContain('oops')
  })

  test('a success body under a failing HTTP status, or as a part, is a failure', () => {
    expect(failure(good, 500).kind).toBe('retry')
    expect(failure(good, 206).kind).toBe('unknown')
  })

  test('never tells a credential that the service sends back', () => {
    const error = failure({ error: { message: 'bad token s3cret', status: 'x-s3cret' } }, 403)
    expect(error.message).not.toContain('s3cret')
    expect(error.errorStatus).toBe('x-[secret]')
  })
})

describe('a hint that the answer is one page of several', () => {
  test.each([
    { result: { data: [], nextPageToken: 't' } },
    { result: { data: [], next_page_token: 't' } },
    { result: { data: [], hasMore: true } },
    { result: { data: [], paging: { next: 'https://x' } } },
    { result: { data: [], meta: { page: { endCursor: 'c' } } } },
    { result: { data: [] }, pagination: { cursor: 'c' } },
    { result: { data: [], lastEvaluatedKey: { id: 1 } } },
    { result: { data: [1], totalCount: 2 } },
    { result: { data: [], totalPages: 3 } },
    { result: { data: [], status: 'partial' } },
  ])('is seen in %j', (body) => {
    expect(readAnswer(reply(body), asked)).toMatchObject({ paged: true })
  })

  test.each([
    { result: { data: [], nextPageToken: '' } },
    { result: { data: [], nextPageToken: null } },
    { result: { data: [], hasMore: false } },
    { result: { data: [], hasMore: 'false' } },
    { result: { data: [1, 2], totalCount: 2, totalPages: 1 } },
    { result: { data: [{ next: 'x', cursor: 'y', hasMore: true }] } },
    { result: { data: [], message: 'next page' } },
  ])('is not seen in %j', (body) => {
    expect(readAnswer(reply(body), asked)).toMatchObject({ paged: false })
  })
})
