import type { OpenAPIV3_1 } from 'openapi-types'
import { describe, expect, test } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import { openLive } from '../helpers/live.ts'
import { BEARER, operationsOf, partsOf, unlistened, unlistenedOn } from './served.ts'

const live = await openLive('none')
const app = await live.openApp()
const server = await unlistened(app)
const document: OpenAPIV3_1.Document = (
  await server.app.inject({ url: '/openapi.json', headers: BEARER })
).json()

const operations = operationsOf(document).map(
  ({ method, path, says }) => [`${method} ${path}`, says] as const,
)

describe('/openapi.json', () => {
  test('describes every route under /v1, and nothing else', () => {
    const routes = server.routes
      .filter(({ method, url }) => url.startsWith('/v1/') && method !== 'HEAD')
      .map(({ method, url }) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`)
    expect(operations.map(([name]) => name).toSorted()).toEqual(routes.toSorted())
  })

  test('gives every operation an id of its own, a summary, a tag, and a schema for each answer', () => {
    expect(document.openapi).toBe('3.1.0')
    const ids = operations.map(([, { operationId }]) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const [name, { operationId, summary, tags, parameters = [], responses }] of operations) {
      expect([operationId, summary, tags?.[0]], name).not.toContain(undefined)
      const inPath = (parameters as OpenAPIV3_1.ParameterObject[]).filter(
        (each) => each.in === 'path',
      )
      expect(inPath.map((each) => `{${each.name}}`)).toEqual(name.match(/\{\w+\}/g) ?? [])
      const answers = responses as Record<string, OpenAPIV3_1.ResponseObject>
      for (const status of ['400', '401', '403', '429', '500', '503'])
        expect(Object.keys(answers[status]?.content ?? {}), name).toEqual([
          'application/problem+json',
        ])
      for (const [status, { description, content }] of Object.entries(answers)) {
        expect(description, `${name} ${status}`).toMatch(/\S/)
        if (status !== '204')
          expect(Object.values(content ?? {})[0]?.schema, `${name} ${status}`).toBeDefined()
      }
    }
  })

  test('requires a body only where a member of it is required', () => {
    const required = operations.flatMap(([name, { requestBody }]) =>
      requestBody === undefined ? [] : [[name, 'required' in requestBody && requestBody.required]],
    )
    expect(Object.fromEntries(required)).toMatchObject({
      'POST /v1/runs': false,
      'POST /v1/hints': true,
      'POST /v1/catalog': true,
    })
  })

  test('refers only to schemas that it holds, and holds none in vain', () => {
    const text = JSON.stringify(document)
    const used = [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name)
    expect([...new Set(used)].toSorted()).toEqual(
      Object.keys(document.components?.schemas ?? {}).toSorted(),
    )
  })
})

describe('a path', () => {
  test.each([
    ['PATCH', '/v1/runs', 405, 'GET, HEAD, POST'],
    ['DELETE', '/v1/runs/00000000-0000-4000-8000-000000000000', 405, 'GET, HEAD'],
    ['GET', '/v1/nothing', 404, undefined],
    ['GET', '/v1', 404, undefined],
  ])('%s %s answers %i', async (method, url, status, allow) => {
    const answer = await server.app.inject({ method: method as 'GET', url, headers: BEARER })
    expect([answer.statusCode, answer.headers.allow]).toEqual([status, allow])
    expect(answer.json()).toMatchObject({ type: 'about:blank', status })
    expect(answer.json()).not.toHaveProperty('instance')
  })

  test.each([
    ['DELETE', '/v1/catalog/organizations/acme/user-groups/anna', 404],
    ['DELETE', '/v1/catalog/organizations/acme/user-groups/an%00na', 400],
    ['GET', '/v1/catalog/organizations/acme/user-groups/anna', 405],
    ['DELETE', '/v1/nothing/acme/anna', 404],
    ['GET', '/v1/catalog/acme/anna%zz', 404],
  ])('%s %s leaves no ID in the log or in `instance`', async (method, url, status) => {
    const lines: string[] = []
    const log = createLog('debug', { write: (line) => lines.push(line) })
    const logged = await unlistenedOn({ ...partsOf(app), log }, { httpBasePath: '/tools' })
    const answer = await logged.app.inject({ method: method as 'GET', url, headers: BEARER })
    expect(answer.statusCode).toBe(status)
    const isRoute = method === 'DELETE' && url.includes('/user-groups/')
    const path = '/v1/catalog/organizations/:organizationId/user-groups/:organizationUserGroupId'
    expect(answer.json().instance).toBe(isRoute ? `/tools${path}` : undefined)
    const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'http')
    expect(requests).toMatchObject([{ method, status }])
    for (const { path: logs } of requests) expect(logs).toBe(isRoute ? path : undefined)
    expect(lines.join('')).not.toMatch(/acme|anna/)
  })

  test('that leads nowhere is a page for a browser', async () => {
    const headers = { ...BEARER, accept: 'text/html' }
    const answer = await server.app.inject({ url: '/nothing', headers })
    expect(answer.statusCode).toBe(404)
    expect(answer.body).toMatch(/^<!doctype html>.*<h1>Not found<\/h1>/s)
  })
})
