import type { App } from '../../src/worker/app.ts'
import { SharedCollabSync } from '../../src/client/collab-sync.ts'
import { createServer } from '../../src/http/server.ts'
import type { HttpParts, HttpServer } from '../../src/http/server.ts'
import { startHttp } from '../../src/http/start-http.ts'
import type { RunningHttp } from '../../src/http/start-http.ts'

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
    collabSync: new SharedCollabSync({
      database,
      queue,
      settings,
      log,
      by: 'a test',
      trigger: 'http',
    }),
    log,
  }
}

/** The same without a token: for this machine alone. */
export function openPartsOf(app: App): HttpParts {
  const { httpToken: _, ...settings } = partsOf(app).settings
  return { ...partsOf(app), settings }
}

/** A server that listens on a free port. */
export async function serveApp(app: App): Promise<RunningHttp> {
  return startHttp(partsOf(app))
}

/** A server that listens nowhere, for `inject`. */
export async function unlistened(app: App): Promise<HttpServer> {
  return createServer(partsOf(app))
}
