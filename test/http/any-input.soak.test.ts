import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import type { OpenAPIV3_1 } from 'openapi-types'
import { describe, expect, test } from 'vitest'
import { ProblemSchema } from '../../src/http/problem.ts'
import { openLoaded } from '../helpers/live.ts'
import { BEARER, operationsOf, serveApp, unlistened } from './served.ts'
import type { Operation } from './served.ts'

const RUNS_AN_OPERATION = 40

const live = await openLoaded('none')
/** A run that is over, so that following it ends. */
const runId: string = (await live.run()).run_id
const server = await unlistened(await live.openApp())
const answer = await server.app.inject({ url: '/openapi.json', headers: BEARER })
expect(answer.statusCode, answer.body.slice(0, 500)).toBe(200)
const operations: Operation[] = operationsOf(answer.json())

/** Of the bodies of all operations, and of scopes and lines in them. */
const MEMBERS =
  'scope organizationIds documentId commentIds operations add failing lines organizationId reason runId cron timeZone'

/** Text that has broken programs before. */
const nastyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', ' ', '\0', 'a\0b', '\ud800', '\uffff', '%00', '../..', '-1', '0', '1e999'),
  fc.constantFrom('9007199254740993', '99999999999999999999', 'NaN', 'null', '{}', "'; drop table"),
  fc.constantFrom('x'.repeat(600), '\u202e', '__proto__', 'constructor', '[object Object]'),
)

const nastyValue = fc.oneof(
  nastyText,
  fc.array(nastyText, { maxLength: 3 }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(1e308, -0, 1.5, Number.MAX_SAFE_INTEGER, 2 ** 60, 'x'.repeat(100_000)),
)

/** Objects with members that operations know, more or less, and anything in them. */
function anyBody(): fc.Arbitrary<string> {
  const member = fc.oneof(fc.constantFrom(...MEMBERS.split(' ')), nastyText)
  const object = fc.dictionary(member, nastyValue, { maxKeys: 4 })
  const nested = object.map((inner) => ({ scope: inner }))
  const json = fc.oneof(object, nested, nastyValue).map((value) => JSON.stringify(value) ?? 'null')
  const broken = fc.tuple(json, fc.nat(40)).map(([text, end]) => text.slice(0, end))
  const fixed = fc.constantFrom(
    '',
    '{',
    '{"__proto__":{"scope":{}}}',
    '{"constructor":{"prototype":{}}}',
    '{"scope":{},"scope":null}',
    '{"scope":{"organizationIds":["nobody"]}}',
    '['.repeat(50_000),
    `{"scope":{"documentId":"${'x'.repeat(2 * 1024 * 1024)}"}}`,
  )
  return fc.oneof({ weight: 5, arbitrary: json }, broken, fixed)
}

const contentType = fc.oneof(
  { weight: 6, arbitrary: fc.constant('application/json') },
  fc.constantFrom('text/plain', 'application/xml', 'application/json; charset=utf-16', 'x', ''),
  fc.constantFrom('multipart/form-data; boundary=x', 'application/x-www-form-urlencoded'),
)

/** A request for the operation in which anything may be wrong. */
function requestFor(operation: Operation): fc.Arbitrary<InjectOptions> {
  const parameters = (operation.says.parameters ?? []) as OpenAPIV3_1.ParameterObject[]
  const names = (place: string) => parameters.filter((each) => each.in === place)
  const segment = fc.oneof(fc.constant(runId), fc.uuid(), fc.constantFrom('1', '2'), nastyText)
  const queryName = fc.oneof(
    fc.constantFrom('limit', 'cursor', ...names('query').map(({ name }) => name)),
    nastyText,
  )
  const queryValue = fc.oneof(fc.constantFrom('1', runId, 'failed'), nastyText)
  const latin1 = fc.string({
    unit: fc.integer({ min: 32, max: 255 }).map((code) => String.fromCharCode(code)),
  })
  return fc
    .record({
      segments: fc.array(segment, { minLength: 3, maxLength: 3 }),
      query: fc.array(fc.tuple(queryName, queryValue), { maxLength: 3 }),
      key: fc.option(fc.oneof(latin1, fc.constant('x'.repeat(300)), fc.constant('')), {
        nil: undefined,
      }),
      lastEventId: fc.option(latin1, { nil: undefined }),
      type: contentType,
      payload: fc.option(anyBody(), { nil: undefined }),
    })
    .map(({ segments, query, key, lastEventId, type, payload }) => {
      const left = [...segments]
      const path = operation.path.replaceAll(/\{\w+\}/g, () => encoded(left.pop() ?? ''))
      const asked = query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')
      return {
        method: operation.method as 'GET',
        url: asked === '' ? path : `${path}?${asked}`,
        headers: {
          ...BEARER,
          ...(key === undefined ? {} : { 'idempotency-key': key }),
          ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
          ...(payload === undefined ? {} : { 'content-type': type }),
        },
        ...(payload === undefined ? {} : { payload }),
      }
    })
}

/** Half a surrogate pair has no UTF-8, so what a careless program would send is sent. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

async function askPatiently(request: InjectOptions): Promise<LightMyRequestResponse> {
  for (;;) {
    const answer = await server.app.inject(request)
    if (answer.statusCode !== 429) return answer
    await sleep(Number(answer.headers['retry-after']) * 1000)
  }
}

describe('whatever an operation is asked with', () => {
  test('it answers as its document says, with a problem that names what is wrong, and never with a 5xx', async () => {
    expect(operations.length).toBeGreaterThan(14)
    const seen = new Map<number, number>()
    for (const operation of operations) {
      await fc.assert(
        fc.asyncProperty(requestFor(operation), async (request) => {
          const answer = await askPatiently(request)
          const { statusCode: status } = answer
          seen.set(status, (seen.get(status) ?? 0) + 1)
          expect(status, `${operation.says.operationId}: ${answer.body}`).toBeLessThan(500)
          if (status >= 400) {
            expect(answer.headers['content-type']).toBe('application/problem+json')
            const problem = ProblemSchema.parse(answer.json())
            expect(problem.status).toBe(status)
            expect(problem.detail).toMatch(/\.$/)
          }
          // An empty segment makes it a path of another operation, or of none.
          const documented = [...Object.keys(operation.says.responses ?? {}), '404', '405']
          expect(documented, operation.says.operationId).toContain(String(status))
        }),
        { numRuns: RUNS_AN_OPERATION },
      )
    }
    for (const status of [200, 400, 404])
      expect(seen.get(status) ?? 0, `answers with ${status}`).toBeGreaterThan(0)
  })

  test('what is no HTTP at all gets a problem, and the next request an answer', async () => {
    const http = await serveApp(await live.openApp())
    const port = Number(new URL(http.url).port)
    const large = `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`
    for (const [text, status] of [
      ['\0\0\0\r\n\r\n', 400],
      ['GET / HTTP/1.1\r\nhost: x\r\nno colon\r\n\r\n', 400],
      ['GET / HTTP/1.1\r\n\r\n', 400],
      ['POST /v1/runs HTTP/1.1\r\nhost: x\r\ncontent-length: x\r\n\r\n', 400],
      [large, 431],
    ] as const) {
      const answer = await send(port, text)
      expect(answer, text.slice(0, 80)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    }
    expect((await fetch(`${http.url}/healthz`)).status).toBe(200)
  })
})

/** Sends bytes, and gives back what came before the server hung up. */
function send(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (part) => parts.push(part))
    socket.on('close', () => resolve(Buffer.concat(parts).toString()))
    socket.on('error', reject)
  })
}
