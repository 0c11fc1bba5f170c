import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { createServer } from '../../src/http/server.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { partsOf } from './served.ts'

/** `serve` behind a load balancer or another proxy. */

let live: Live
let app: App

beforeAll(async () => {
  live = await openLive('none')
  app = await live.openApp()
})
afterAll(() => live?.close())

test('an idle connection stays open for HTTP_KEEP_ALIVE_S, and does not delay a stop', async () => {
  const server = await createServer(partsOf(app))
  const url = await server.app.listen({ host: '127.0.0.1', port: 0 })
  const answer = await fetch(`${url}/healthz`)
  await answer.text()
  expect(answer.headers.get('keep-alive')).toBe('timeout=650')
  await server.app.close()
})
