import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { places } from '../../src/demo/catalog.ts'
import { openLoaded } from '../helpers/live.ts'
import { BEARER, unlistened } from './served.ts'

const live = await openLoaded('postgres')
const server = await unlistened(await live.openApp())
beforeEach(() => live.database.pool.query('truncate sync.runs cascade'))
afterEach(() => void vi.useRealTimers())

function scope() {
  const [place] = places(live.world)
  if (place === undefined) throw new Error('an empty world')
  const { organizationId, documentId, annotationId } = place
  return { organizationIds: [organizationId], documentId, annotationId }
}

async function post(payload: object, headers: Record<string, string> = BEARER, url = '/v1/hints') {
  const answer = await server.app.inject({ method: 'POST', url, headers, payload })
  const { 'retry-after': retryAfter } = answer.headers
  return { status: answer.statusCode, body: answer.json(), retryAfter: Number(retryAfter) }
}

const runs = async () => (await live.database.pool.query('select from sync.runs')).rowCount

test('a hint is a run of just its thread; the same again, before it begins, is the same look', async () => {
  const first = await post({ scope: scope() })
  expect(first).toMatchObject({ status: 202, body: { runId: expect.any(String), annotations: 1 } })
  expect(await post({ scope: scope() })).toMatchObject({ status: 202, body: first.body })
  expect(await runs()).toBe(1)
})

test.each([
  [{}, 400, /scope/],
  [{ scope: { organizationIds: ['a'] } }, 400, /scope\.documentId/],
  [{ scope: { organizationIds: ['a', 'b'], documentId: 'd' } }, 400, /must name one organization/],
  [{ scope: { organizationIds: ['a'], documentId: 'd', userIds: ['u'] } }, 400, /scope\.userIds/],
  [{ scope: { organizationIds: ['a'], documentId: 'd' } }, 422, /^Organization "a" is not in the/],
])('%j is answered with a problem', async (asked, status, detail) => {
  const answer = await post(asked)
  expect(answer).toMatchObject({ status, body: { detail: expect.stringMatching(detail) } })
  expect(await runs()).toBe(0)
})

test('of many hints at a time, 50 are accepted, and the others get a 429', async () => {
  const blocker = await live.database.pool.connect()
  await blocker.query('begin; lock table sync.runs in access exclusive mode')
  const posts = Array.from({ length: 60 }, () => post({ scope: scope() }))
  // Only a refused one gets a response while this lasts.
  expect(await Promise.race(posts)).toMatchObject({ status: 429, retryAfter: 1 })
  await blocker.query('rollback')
  blocker.release()
  const statuses = (await Promise.all(posts)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 202)).toHaveLength(50)
  expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  expect(await runs()).toBe(1)
})

test.each([
  ['/v1/runs', 50],
  ['/v1/hints', 200],
])('%s accepts %i requests a second', async (url, max) => {
  // A second after the requests of the tests before, which count in their own.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1000 })
  const wrong = { scope: { organizationIds: ['nobody'], documentId: 'd' } }
  for (let each = 0; each < max; each += 1)
    expect(await post(wrong, BEARER, url)).toMatchObject({ status: 422 })
  const refused = await post(wrong, BEARER, url)
  expect(refused).toMatchObject({ status: 429, retryAfter: 1 })
  vi.setSystemTime(Date.now() + 1000)
  expect(await post(wrong, BEARER, url)).toMatchObject({ status: 422 })
})
