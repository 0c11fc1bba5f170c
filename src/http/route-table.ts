import type { FastifyInstance } from 'fastify'
import type { Right } from './auth/access-tokens.ts'

export interface Route {
  readonly method: string
  /** With parameters, such as `/v1/runs/:runId`. */
  readonly url: string
  readonly right: Right | 'none' | undefined
}

/** Lists every route that is added later. */
export function listRoutes(app: FastifyInstance): readonly Route[] {
  const routes: Route[] = []
  app.addHook('onRoute', (route) => {
    const { method, url } = route
    for (const each of [method].flat()) {
      routes.push({
        method: each,
        url,
        // A plugin can set it for all its routes in a later hook.
        get right() {
          return route.config?.right
        },
      })
    }
  })
  return routes
}

/** @throws for a route that declares no right */
export function requireRights(routes: readonly Route[]): void {
  const missing = routes.find(({ right }) => right === undefined)
  if (missing !== undefined)
    throw new Error(`The route ${missing.method} ${missing.url} declares no right.`)
}

/** The methods of a path; none if no route has it. */
export function methodsOf(routes: readonly Route[], path: string): string[] {
  const found = routes.filter(({ url }) => !url.includes('*') && patternOf(url).test(path))
  return [...new Set(found.map(({ method }) => method))].toSorted()
}

function patternOf(url: string): RegExp {
  const parts = url
    .split('/')
    .map((part) => (part.startsWith(':') ? '[^/]+' : part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')))
  return new RegExp(`^${parts.join('/')}$`)
}
