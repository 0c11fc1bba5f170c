import type { LightMyRequestResponse } from 'fastify'
import { expect, test } from 'vitest'
import { addToCatalog } from '../../src/features/catalog/change.ts'
import { openLive } from '../helpers/live.ts'
import { BEARER, unlistened } from './served.ts'

/** As long as the catalog takes an id, of characters that take most room in cursors, addresses and pages. */
const LONG_IDS = Array.from({ length: 55 }, (_, n) => `${n}`.padStart(2000, '"'))

const live = await openLive('none')
const lines = LONG_IDS.map((organizationId) => ({ organizationId }))
await addToCatalog(live.database.pool, lines, { source: 'a test', requestedBy: 'a test' })
const server = await unlistened(await live.openApp())

test('the API pages past ids as long as the catalog takes them', async () => {
  const listed: string[] = []
  let path: string | undefined = '/v1/organizations?limit=20'
  while (path !== undefined) {
    const answer: LightMyRequestResponse = await server.app.inject({ url: path, headers: BEARER })
    expect(answer.statusCode).toBe(200)
    const { items } = answer.json<{ items: { organizationId: string }[] }>()
    listed.push(...items.map(({ organizationId }) => organizationId))
    path = /^<(.+)>; rel="next"$/.exec(String(answer.headers['link'] ?? ''))?.[1]
  }
  expect(listed.toSorted()).toEqual(LONG_IDS.toSorted())
})

test('so do the pages, and one of them can be synced', async () => {
  const page = (url: string) =>
    server.app.inject({ url, headers: { ...BEARER, accept: 'text/html' } })
  const next = /rel="next" href="([^"]+)"/.exec((await page('/organizations')).body)?.[1] ?? ''
  expect(next).toMatch(/^\/organizations\?cursor=/)
  const second = await page(next)
  expect(second.statusCode).toBe(200)
  expect(second.body).toContain('First page')
  const question = await page(
    `/actions/sync?organizationId=${encodeURIComponent(LONG_IDS[0] ?? '')}`,
  )
  expect(question.body).toContain('Sync now?')
})
