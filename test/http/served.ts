import type { OpenAPIV3_1 } from 'openapi-types'
import type { App } from '../../src/worker/app.ts'
import { createLog } from '../../src/base/log.ts'
import type { Database } from '../../src/core/database/pool.ts'
import type { QueuePlace } from '../../src/core/queue/backend.ts'
import { createServer } from '../../src/http/server.ts'
import type { HttpParts, HttpServer } from '../../src/http/server.ts'
import { openQueueLate, startHttp } from '../../src/http/start-http.ts'
import type { RunningHttp } from '../../src/http/start-http.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { onParts } from '../client/on-app.ts'
import { closedAtEnd } from '../helpers/closing.ts'

export const TOKEN = 'a-token-of-the-tests'
export const BEARER = { authorization: `Bearer ${TOKEN}` }

/** What the HTTP side works with, from an app that a test opened. */
export function partsOf(app: App, token: string | undefined = TOKEN): HttpParts {
  const { httpToken: _, ...settings } = app.settings
  const { store, queue, log } = app
  const { database } = store
  return {
    settings: { ...settings, httpPort: 0, ...(token === undefined ? {} : { httpToken: token }) },
    store,
    queue,
    collabSync: onParts({ database, queue, settings, log, trigger: 'http' }),
    log,
  }
}

/** The same on a database and a queue that may not be there yet, as `serve` opens them. */
export function latePartsOf(database: Database, url: string, place: QueuePlace): HttpParts {
  const settings = readSettings(
    { DATABASE_URL: url, HTTP_PORT: '0', HTTP_TOKEN: TOKEN },
    { need: ['database', 'queue', 'http'], directory: '/nonexistent' },
  )
  const log = createLog('silent')
  const queue = openQueueLate(place, log)
  const collabSync = onParts({ database, queue, settings, log, trigger: 'http' })
  return { settings, store: { database }, queue, collabSync, log }
}

/** The same without a token: for this machine alone. */
export function openPartsOf(app: App): HttpParts {
  const { httpToken: _, ...settings } = partsOf(app).settings
  return { ...partsOf(app), settings }
}

/** A server that listens on a free port, until the test or its file ends. */
export async function serveApp(app: App): Promise<RunningHttp> {
  const http = await startHttp(partsOf(app))
  closedAtEnd(() => http.stop())
  return http
}

/** A server that listens nowhere, for `inject`, until the test or its file ends. */
export async function unlistened(
  app: App,
  settings: Partial<HttpParts['settings']> = {},
): Promise<HttpServer> {
  return unlistenedOn(partsOf(app), settings)
}

/** The same on parts of its own, with some settings in place of theirs. */
export async function unlistenedOn(
  parts: HttpParts,
  settings: Partial<HttpParts['settings']> = {},
): Promise<HttpServer> {
  const server = await createServer({ ...parts, settings: { ...parts.settings, ...settings } })
  closedAtEnd(() => server.app.close())
  return server
}

/** An operation of `/openapi.json`. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly says: OpenAPIV3_1.OperationObject
}

export function operationsOf({ paths = {} }: OpenAPIV3_1.Document): Operation[] {
  return Object.entries(paths).flatMap(([path, methods = {}]) =>
    Object.entries(methods).map(([method, says]) => ({
      method: method.toUpperCase(),
      path,
      says: says as OpenAPIV3_1.OperationObject,
    })),
  )
}
