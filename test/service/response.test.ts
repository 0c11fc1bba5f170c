import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { CallError } from '../../src/base/errors.ts'
import { readResponse } from '../../src/core/service/response.ts'
import type { CallTarget } from '../../src/core/service/errors.ts'

const target: CallTarget = {
  operation: 'comments',
  filter: { organizationId: 'o', documentId: 'd', annotationId: 'a' },
  secrets: ['s3cret'],
}

function reply(body: unknown, httpStatus = 200): Parameters<typeof readResponse>[0] {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return { httpStatus, retryAfterMs: null, body: bytes }
}

function failure(body: unknown, httpStatus = 200): CallError {
  try {
    readResponse(reply(body, httpStatus), target)
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
    expect(readResponse(reply(text), target)).toEqual({
      status: 'data',
      digest: createHash('sha256').update(text).digest().subarray(0, 16),
      data: good.result.data,
      dataText: text.slice(text.indexOf('['), text.lastIndexOf(']') + 1),
      paged: false,
    })
  })

  test('has a secret of twelve characters masked, and no shorter one', () => {
    const secrets = ['elevenchars', 'twelve-chars']
    const body = { result: { ...good.result, data: secrets } }
    const data = ['elevenchars', '[secret]']
    expect(readResponse(reply(body), { ...target, secrets })).toMatchObject({ data })
  })

  test('with the same bytes as before is told by its digest, and not parsed', () => {
    const notJson = Buffer.from('not JSON at all')
    const digest = createHash('sha256').update(notJson).digest().subarray(0, 16)
    expect(readResponse(reply(notJson), target, digest)).toEqual({ status: 'unchanged', digest })
    expect(() => readResponse(reply(notJson, 500), target, digest)).toThrow(CallError)
  })

  test('with the same records in another order is not parsed', () => {
    const records = [
      { commentId: 1, replies: [{ a: 1 }] },
      { commentId: 2, commentText: 'é' },
    ]
    const body = (data: unknown[], message = 'ok') => reply({ result: { message, data } })
    const { digest } = readResponse(body(records), target)
    expect(readResponse(body(records.toReversed()), target, digest).status).toBe('unchanged')
    for (const other of [
      body(records.slice(1)),
      body([...records, records[0]]),
      body([{ commentId: 2 }, { commentId: 1 }]),
      body(records.toReversed(), 'partial'),
    ])
      expect(readResponse(other, target, digest).status).toBe('data')
  })

  test('whose records begin like an object within one is known again by its bytes', () => {
    // Its pieces in another order are other records: ann 1 would get the reply of ann 2.
    const pieces = ['{"id":1,"in":[{"id":2}', '{"id":3}]}', '{"id":4,"in":[{"id":2}', '{"id":5}]}']
    const body = (parts: (string | undefined)[]) => {
      const bytes = Buffer.from(
        new TextEncoder().encode(`{"result":{"data":[${parts.join()}]}}`).buffer,
      )
      const release = () => void structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
      return { ...reply(bytes), release }
    }
    const { digest } = readResponse(body(pieces), target)
    const exchanged = body([pieces[0], pieces[3], pieces[2], pieces[1]])
    expect(readResponse(body(pieces), target, digest).status).toBe('unchanged')
    expect(readResponse(exchanged, target, digest).status).toBe('data')
  })

  test('with null in place of its data has no records, and may lack some', () => {
    const { status, ...answer } = readResponse(reply({ result: { data: null } }), target)
    expect({ status, ...answer }).toMatchObject({ data: [], dataText: '[]', paged: true })
    expect(failure({ result: { status: 'error', data: null } }).kind).toBe('unknown')
  })

  test('may come with any 2xx, 206 aside', () => {
    for (const httpStatus of [200, 201, 299])
      expect(readResponse(reply(good, httpStatus), target).status).toBe('data')
  })

  test('has at most a million records', () => {
    const records = (count: number) => reply(`{"result":{"data":[${'1,'.repeat(count - 1)}1]}}`)
    expect(readResponse(records(1_000_000), target).status).toBe('data')
    expect(() => readResponse(records(1_000_001), target)).toThrow('1000001 records in one body')
  })

  test('gives its bytes free before it is parsed', () => {
    let released = 0
    readResponse({ ...reply(good), release: () => (released += 1) }, target)
    expect(released).toBe(1)
  })

  test.each([
    ['another word in result.status', { result: { status: 'OK', data: [] } }],
    ['no result.status', { result: { data: [] } }],
    ['a null error', { result: { data: [] }, error: null }],
    ['a false error', { result: { data: [] }, error: false }],
    ['an empty error', { result: { data: [] }, error: {} }],
    ['an error of no text', { result: { data: [] }, error: '' }],
    ['an empty list of errors', { result: { data: [] }, error: [] }],
  ])('is also one with %s', (_what, body) => {
    expect(readResponse(reply(body), target)).toMatchObject({ status: 'data', data: [] })
  })

  test('may start with a byte order mark', () => {
    const body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(JSON.stringify(good))])
    expect(readResponse(reply(body), target)).toMatchObject({ data: good.result.data })
  })
})

describe('a failure', () => {
  test.each([
    ['an empty body', '', 'retry', 'body_empty'],
    ['HTML', '<html>', 'retry', 'web_page'],
    ['invalid UTF-8 in a text', Buffer.from('7b2261223a22ff227d', 'hex'), 'retry', 'body_not_utf8'],
    ['two results', '{"result":{"data":[]},"result":{"data":[]}}', 'retry', 'body_ambiguous'],
    ['null', null, 'retry', 'no_data'],
    ['result.data that is no list', { result: { data: {} } }, 'retry', 'no_data'],
    ['an error that is a text', { error: 'x' }, 'retry', 'error_without_code'],
    ['an error beside data', { error: { status: 'NOT_FOUND' }, ...good }, 'refused', 'NOT_FOUND'],
    ['a code never seen', { error: { status: 'odd' } }, 'unknown', 'odd'],
    ['a blank code', { error: { status: ' ' } }, 'retry', 'error_without_code'],
    ['a code that is no text', { error: { status: {} } }, 'retry', 'error_without_code'],
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

  test.each([
    ['<html>oops', 200, '200, the body is a web page (10 bytes)'],
    ['', 204, '204, the body is empty'],
    [")]}'\n{}", 200, "200, the body begins with )]}', so it is not JSON (7 bytes)"],
    [
      Buffer.from('{}', 'utf16le'),
      200,
      '200, the body is not UTF-8 but seems to be UTF-16 (4 bytes)',
    ],
    [
      gzipSync('{}').subarray(0, 20),
      200,
      '200, the body is compressed, and content-encoding does not say so (20 bytes)',
    ],
    [{ error: [], result: {} }, 200, '200, no result.data array in the body'],
    [{ error: ['x'] }, 200, '200'],
    [{ result: { status: 'Error!', data: [] } }, 200, '200, result.status is "Error!"'],
    [{ error: { status: 'ODD', message: 'all is lost' } }, 200, '200 ODD, all is lost'],
    [{ error: { status: 'ODD', message: ['no text'] } }, 200, '200 ODD'],
    [{ error: { status: 7, message: 'all is lost' } }, 500, '500 7, all is lost'],
    [null, 500, '500'],
    [{ error: { status: 'GONE' } }, 399, '399, a redirect, which is never followed'],
  ])('of %j under HTTP %d has the message: HTTP %s', (body, httpStatus, message) => {
    const call = 'Get Comments of organizationId "o", documentId "d", annotationId "a" failed: HTTP'
    expect(failure(body, httpStatus).message).toBe(`${call} ${message}`)
  })

  test('a body in another charset is named by it', () => {
    const body = Buffer.from('{"a":"\xe9"}', 'latin1')
    const contentType = 'application/json; charset="ISO-8859-1"'
    expect(() => readResponse({ ...reply(body), contentType }, target)).toThrow(
      'HTTP 200, the body is not UTF-8: its charset is ISO-8859-1 (9 bytes)',
    )
  })

  test('keeps Retry-After', () => {
    const late = { ...reply('', 200), retryAfterMs: 7000 }
    expect(() => readResponse(late, target)).toThrow(
      expect.objectContaining({ retryAfterMs: 7000 }),
    )
  })

  test('under HTTP 500 with HTML has no code and none of the HTML', () => {
    expect(failure('<html>oops</html>', 500)).toMatchObject({ kind: 'retry', errorStatus: null })
    expect(failure('<html>oops</html>', 500).message).not.toContain('oops')
  })

  test('a success body under a failing HTTP status, or as a part, is a failure', () => {
    expect(failure(good, 500).kind).toBe('retry')
    expect(failure(good, 206).kind).toBe('unknown')
    expect(failure(good, 199).kind).toBe('unknown')
    expect(failure(good, 300).kind).toBe('refused')
  })
})

/** Members of an envelope that say that there are further pages. */
const PAGE_MEMBERS = `
  next nextPage next_page_token nextToken next-cursor nextUrl nextLink nextUri nextOffset nextKey
  nextMarker pageToken cursor endCursor afterCursor marker hasMore has_next hasNextPage
  hasMorePages more moreResults moreHref continuation continuationToken LastEvaluatedKey
  startAfter resumeToken truncated isTruncated partial isPartial incomplete Total totalCount
  totalItems totalResults totalSize totalPages pageCount numPages`
  .trim()
  .split(/\s+/)

describe('a hint that the answer is one page of several', () => {
  test.each([
    { result: { data: [], meta: { page: { endCursor: 'c' } } } },
    { result: { data: [] }, pagination: { cursor: 'c' } },
    { result: { data: [1], totalCount: 2 } },
    { result: { data: [], totalPages: 3 } },
    { result: { data: [], status: 'an INCOMPLETE list' } },
    { result: { data: [], next: { url: 'x' } } },
    { a: { b: { c: { d: { e: { f: { more: true } } } } } }, result: { data: [] } },
  ])('is seen in %j', (body) => {
    expect(readResponse(reply(body), target)).toMatchObject({ paged: true })
  })

  test.each(PAGE_MEMBERS)('is seen in the member %s, and not where it says nothing', (name) => {
    const paged = (value: unknown) =>
      (readResponse(reply({ result: { data: [], [name]: value } }), target) as { paged: boolean })
        .paged
    expect([paged('2'), paged(2), paged(''), paged(0)]).toEqual([true, true, false, false])
  })

  test.each([
    { result: { data: [{ next: 'x', cursor: 'y', hasMore: true }] } },
    { result: { data: [], next: {}, more: [{ id: 1 }] } },
    { result: { data: [], more: 0, cursor: ' None ', marker: '0', partial: 'no' } },
    { result: { data: [], status: { partial: false } } },
    { result: { data: [], notes: ['next', { more: true }], total: 0, pageCount: 1 } },
    // Deeper than any envelope is.
    { a: { b: { c: { d: { e: { f: { g: { more: true } } } } } } }, result: { data: [] } },
  ])('is not seen in %j', (body) => {
    expect(readResponse(reply(body), target)).toMatchObject({ paged: false })
  })
})
