import { expect, test } from 'vitest'
import { addAccessToken } from '../../src/http/auth/access-tokens.ts'
import { startRun } from '../../src/core/run/start.ts'
import { openLoaded } from '../helpers/live.ts'
import { BEARER, serveApp } from './served.ts'

const live = await openLoaded('none')
const app = await live.openApp()
const http = await serveApp(app)
const request = { trigger: 'cli', scope: {}, requestKey: null } as const
const runId: string = (await startRun(app.sync, request)).runId

test('one token follows at most ten runs from one address, and another token still can', async () => {
  const left = new AbortController()
  const follow = (headers: Record<string, string>) =>
    fetch(`${http.url}/v1/runs/${runId}/events`, { headers, signal: left.signal })
  const streams = await Promise.all(Array.from({ length: 11 }, () => follow(BEARER)))
  expect(streams.map(({ status }) => status).toSorted()).toEqual([...Array(10).fill(200), 429])
  const refused = streams.find(({ status }) => status === 429)
  expect(await refused?.json()).toMatchObject({ detail: 'Too many streams of runs are open.' })
  const ann = await addAccessToken(live.database.pool, 'ann', 'read', 'a test')
  expect((await follow({ authorization: `Bearer ${ann}` })).status).toBe(200)
  left.abort()
})

test.each([
  [undefined, {}],
  ['application/json', {}],
  ['application/json', { body: '{}' }],
])('a request without members needs no body: %s %j', async (type, payload) => {
  const send = (path: string) =>
    fetch(`${http.url}/v1${path}`, {
      method: 'POST',
      headers: { ...BEARER, ...(type === undefined ? {} : { 'content-type': type }) },
      ...payload,
    })
  const started = await send('/runs')
  expect(started.status).toBe(202)
  const { runId: own } = (await started.json()) as { runId: string }
  expect((await send(`/runs/${own}/cancel`)).status).toBe(202)
  const wrong = await send('/rejected-records/set-aside')
  expect([wrong.status, await wrong.json()]).toMatchObject([400, { errors: [{ in: 'body' }] }])
})
