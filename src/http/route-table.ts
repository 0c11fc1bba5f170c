import type { FastifyInstance } from 'fastify'

/** A route as Fastify was told of it. */
export interface Route {
  readonly method: string
  /** With parameters, such as `/v1/runs/:runId`. */
  readonly url: string
}

/** Every route that is added from now on. */
export function listRoutes(app: FastifyInstance): readonly Route[] {
  const routes: Route[] = []
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) routes.push({ method: each, url })
  })
  return routes
}

/** The methods that a path can be asked with; none where there is no such path. */
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
