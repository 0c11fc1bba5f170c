import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildCommand } from './built-command.ts'
import type { BuiltCommand, Environment } from './built-command.ts'

/** What people get wrong first, each with what `doctor` says of it, and whether a run could succeed all the same. */

type Answering = (response: ServerResponse, request: IncomingMessage) => void

let command: BuiltCommand
let answering: Answering
const server = createServer((request, response) => answering(response, request))
let settings: Environment

beforeAll(async () => {
  command = await buildCommand()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  settings = {
    COLLAB_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    COLLAB_API_KEY: 'the-right-key',
    COLLAB_AUTH_TOKEN: 'the-right-token',
    COLLAB_SYNC_HOME: `${command.directory}/none`,
  }
})
afterAll(async () => {
  await command?.remove()
  server.close()
})

/** A service that knows two paths, one key and one token. */
const service: Answering = (response, { url, headers }) => {
  const isKnown =
    headers['x-service-api-key'] === 'the-right-key' &&
    headers['x-service-auth-token'] === 'the-right-token'
  if (!isKnown) return refuse(401, 'UNAUTHENTICATED')(response, { url } as IncomingMessage)
  if (url !== '/v1/users/get') return plain(404, 'Not found')(response, { url } as IncomingMessage)
  response.end('{"result":{"status":"success","message":"","data":[]}}')
}
const plain =
  (status: number, body = ''): Answering =>
  (response) =>
    response.writeHead(status).end(body)
const refuse = (status: number, code: string): Answering =>
  plain(status, JSON.stringify({ error: { status: code, message: 'as it is' } }))

test.each<[string, Answering, Environment, number, RegExp]>([
  ['all is right', service, {}, 0, /^ok +service +.* accepts key and token/m],
  ['an address that ends in /v1', service, { path: '/v1' }, 2, /remove \/v1 and the rest/],
  [
    '404 to everything',
    plain(404),
    {},
    2,
    /is not the base address of the service.*\n.*correct COLLAB_API_URL/,
  ],
  ['a web page', plain(200, '<!doctype html><p>Hello'), {}, 2, /not the base address.*a web page/],
  ['a redirect', plain(301), {}, 2, /redirects \(/],
  [
    'key and token exchanged',
    service,
    { COLLAB_API_KEY: 'the-right-token', COLLAB_AUTH_TOKEN: 'the-right-key' },
    2,
    /refuses the key or the token.*\n.*may be swapped/,
  ],
  [
    'a setting that is misspelt',
    service,
    { SYNC_CONCURENCY: '3' },
    0,
    /^warn +settings +SYNC_CONCURENCY is not a setting; did you mean SYNC_CONCURRENCY\?\n/m,
  ],
  [
    'a port where nothing listens',
    service,
    { COLLAB_API_URL: 'http://127.0.0.1:9' },
    2,
    /nothing listens there/,
  ],
  ['a service that fails', plain(500), {}, 2, /returns no usable response: .*HTTP 500/],
  ['a service that gets too many calls', plain(429), {}, 0, /^warn +service +.* throttles calls/m],
  [
    'an organization that there is not',
    refuse(404, 'NOT_FOUND'),
    {},
    0,
    /^ok +service .*did not refuse key and token/m,
  ],
  [
    'a call that is refused',
    refuse(403, 'PERMISSION_DENIED'),
    {},
    0,
    /^warn +service .*refuses Get Users: .*PERMISSION_DENIED/m,
  ],
])('%s', async (_name, answer, { path = '', ...others }, code, words) => {
  answering = answer
  const environment = {
    ...settings,
    COLLAB_API_URL: `${settings['COLLAB_API_URL']}${path}`,
    ...others,
  }
  const looked = await command.run(['doctor'], environment)
  expect(looked.stdout).toMatch(words)
  expect(looked.code).toBe(code)
  expect(looked.stdout + looked.stderr).not.toContain('the-right-')
})
