import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { places } from '../../src/demo/catalog.ts'
import { createServer } from '../../src/http/server.ts'
import type { HttpServer } from '../../src/http/server.ts'
import { startHttp } from '../../src/http/start-http.ts'
import { signatureHeaders } from '../../src/webhook.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { BEARER, openPartsOf, partsOf } from './served.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OTHER_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const JSON_TYPE = { 'content-type': 'application/json' }

let live: Live
let app: App
/** With HTTP_TOKEN, and HINT_WEBHOOK_SECRET where it is not the one without. */
let server: HttpServer
let withoutSecret: HttpServer

beforeAll(async () => {
  live = await openLive('postgres')
  await live.importCatalog()
  app = await live.openApp()
  server = await served(SECRET)
  withoutSecret = await served(undefined)
})
afterAll(async () => {
  await server?.app.close()
  await withoutSecret?.app.close()
  await live?.close()
})
beforeEach(() => live.database.pool.query('truncate sync.runs cascade'))

async function served(secret: string | undefined): Promise<HttpServer> {
  const parts = partsOf(app)
  const settings = { ...parts.settings, ...(secret !== undefined && { hintWebhookSecret: secret }) }
  return createServer({ ...parts, settings })
}

function scope() {
  const [place] = places(live.world)
  if (place === undefined) throw new Error('an empty world')
  const { organizationId, documentId, annotationId } = place
  return { organizationIds: [organizationId], documentId, annotationId }
}

/** What a backend of the customer's sends. */
function message(
  instead: { secret?: string; at?: Date; body?: string; id?: string } = {},
): Message {
  const { secret = SECRET, at = new Date(), id = 'msg_1' } = instead
  const body = instead.body ?? JSON.stringify({ scope: scope() })
  return {
    body,
    headers: { ...JSON_TYPE, 'webhook-id': id, ...signatureHeaders(secret, { id, body }, at) },
  }
}

interface Message {
  body: string
  headers: Record<string, string>
}

async function post({ body, headers }: Message, on = server, url = '/v1/hints') {
  const answer = await on.app.inject({ method: 'POST', url, headers, payload: body })
  return { status: answer.statusCode, type: answer.headers['content-type'], body: answer.json() }
}

const runs = async () => (await live.database.pool.query('select from sync.runs')).rowCount

describe('a signed request', () => {
  test('needs no token; the same again, as a sender repeats it, is the same look', async () => {
    const first = await post(message())
    expect(first).toMatchObject({ status: 202, body: { runId: expect.any(String), threads: 1 } })
    expect(await post(message())).toMatchObject({ status: 202, body: first.body })
    expect(await runs()).toBe(1)
  })

  test('may bear the signatures of two secrets, while one takes the place of the other', async () => {
    const { body, headers } = message()
    const both = `${message({ secret: OTHER_SECRET }).headers['webhook-signature']} ${headers['webhook-signature']}`
    expect(await post({ body, headers: { ...headers, 'webhook-signature': both } })).toMatchObject({
      status: 202,
    })
  })

  test('is of bytes: other words for the same body are another body', async () => {
    const { body, headers } = message()
    expect(await post({ body: ` ${body}`, headers })).toMatchObject({ status: 401 })
  })

  const MINUTES_5 = 300_000
  test.each([
    ['another secret', () => message({ secret: OTHER_SECRET })],
    ['another body', () => ({ ...message(), body: '{"scope":{}}' })],
    ['another id', () => changed({ 'webhook-id': 'msg_2' })],
    ['no id', () => changed({ 'webhook-id': '' })],
    ['no time', () => changed({ 'webhook-timestamp': '' })],
    ['a time that is none', () => changed({ 'webhook-timestamp': '1e9' })],
    [
      'another time',
      () => changed({ 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 9) }),
    ],
    ['a body played back later', () => message({ at: new Date(Date.now() - MINUTES_5 - 60_000) })],
    ['a time far ahead', () => message({ at: new Date(Date.now() + MINUTES_5 + 60_000) })],
    ['an empty signature', () => changed({ 'webhook-signature': '' })],
    ['a short signature', () => changed({ 'webhook-signature': 'v1,AAAA' })],
    ['a signature of another version', () => changed({ 'webhook-signature': 'v1a,AAAA' })],
    ['no body at all', () => ({ body: '', headers: message({ body: 'x' }).headers })],
    ['a body that is no JSON, unsigned', () => message({ secret: OTHER_SECRET, body: '[]' })],
  ])('is refused as others are: %s', async (_, sent) => {
    const answer = await post(sent())
    expect([400, 401]).toContain(answer.status)
    if (answer.status === 400) expect(sent().body).toBe('')
    expect(answer.type).toMatch(/^application\/problem\+json/)
    expect(answer.body).toMatchObject({ title: expect.any(String), instance: '/v1/hints' })
    expect(await runs()).toBe(0)
  })

  function changed(headers: Record<string, string>): Message {
    const sent = message()
    return { ...sent, headers: { ...sent.headers, ...headers } }
  }

  test('is let in nowhere else', async () => {
    const { body, headers } = message({ body: '{}' })
    expect(await post({ body, headers }, server, '/v1/runs')).toMatchObject({ status: 401 })
    const read = await server.app.inject({ url: '/v1/runs', headers })
    expect(read.statusCode).toBe(401)
  })

  test('without HINT_WEBHOOK_SECRET is one without a token; a token is taken in any case', async () => {
    expect(await post(message(), withoutSecret)).toMatchObject({ status: 401 })
    expect(await runs()).toBe(0)
    const { body } = message()
    for (const each of [server, withoutSecret])
      expect(await post({ body, headers: { ...JSON_TYPE, ...BEARER } }, each)).toMatchObject({
        status: 202,
      })
    const wrong = { ...message().headers, authorization: 'Bearer a-wrong-token-of-the-tests' }
    expect(await post({ body, headers: wrong })).toMatchObject({ status: 401 })
  })

  test('to a server without HTTP_TOKEN has to be right too, and come from this machine', async () => {
    const parts = openPartsOf(app)
    const settings = { ...parts.settings, hintWebhookSecret: SECRET }
    const http = await startHttp({ ...parts, settings })
    try {
      const ask = async (sent: Message) =>
        (await fetch(`${http.url}/v1/hints`, { method: 'POST', ...sent })).status
      expect(await ask(message({ secret: OTHER_SECRET }))).toBe(401)
      expect(await runs()).toBe(0)
      expect(await ask(message())).toBe(202)
      const { body, headers } = message()
      const elsewhere = { ...headers, origin: 'https://example.com' }
      expect(await ask({ body, headers: elsewhere })).toBe(403)
    } finally {
      await http.stop()
    }
  })

  test('that is wrong takes nothing from the requests of a second that others have', async () => {
    const wrong = Array.from({ length: 250 }, () => post(message({ secret: OTHER_SECRET })))
    for (const { status } of await Promise.all(wrong)) expect(status).toBe(401)
    expect(await post(message())).toMatchObject({ status: 202 })
  })
})

test.each([
  [{}, 400, /scope/],
  [{ scope: { organizationIds: ['a'] } }, 400, /scope\.documentId/],
  [{ scope: { organizationIds: ['a', 'b'], documentId: 'd' } }, 400, /must name one organization/],
  [{ scope: { organizationIds: [], documentId: 'd' } }, 400, /must name one organization/],
  [{ scope: { organizationIds: ['a'], documentId: 'd', userIds: ['u'] } }, 400, /scope\.userIds/],
  [{ scope: { organizationIds: ['a'], documentId: 'd', commentIds: [1] } }, 400, /commentIds/],
  [
    { scope: { organizationIds: ['a'], documentId: 'd', operations: ['users'] } },
    400,
    /operations/,
  ],
  [{ scope: { organizationIds: ['a'], documentId: 'd' } }, 422, /^Organization "a" is not in the/],
])('%j is answered with a problem', async (asked, status, detail) => {
  const answer = await post({ body: JSON.stringify(asked), headers: { ...JSON_TYPE, ...BEARER } })
  expect(answer).toMatchObject({ status, body: { detail: expect.stringMatching(detail) } })
  expect(await runs()).toBe(0)
})

test('a body beyond 64 KB is refused', async () => {
  const { body, headers } = message({ body: JSON.stringify({ scope: 'x'.repeat(70_000) }) })
  expect(await post({ body, headers })).toMatchObject({ status: 413 })
})
