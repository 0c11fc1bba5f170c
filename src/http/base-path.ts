import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** HTTP_BASE_PATH; empty without one. */
    basePath: string
  }
}

/**
 * The path that a request is routed by. The base is removed if the path begins with it: some proxies remove the base, and
 * probes do not use one. A path that cannot be decoded becomes one that no route has, because Fastify responds to it before
 * any hook.
 */
export function routedPath(base: string, url: string): string {
  const isBelow = url.startsWith(base) && ['', '/', '?'].includes(url.charAt(base.length))
  const path = isBelow ? url.slice(base.length) : url
  try {
    decodeURI(url.split('?', 1)[0] ?? '')
  } catch {
    return '/%25'
  }
  return url.startsWith('/') ? path.replace(/^(?!\/)/, '/') : '/%25'
}

/**
 * Adds the base to every path in the pages and in the headers Location and Link. The text of a page contains no `="`,
 * because the renderer escapes quotes.
 */
export function addBase(app: FastifyInstance, base: string): void {
  app.decorate('basePath', base)
  app.addHook('onSend', async (_request, reply, payload) => {
    for (const name of ['location', 'link']) {
      const value = reply.getHeader(name)
      if (typeof value === 'string') reply.header(name, value.replace(/^<?(?=\/)/, `$&${base}`))
    }
    const isPage = String(reply.getHeader('content-type')).startsWith('text/html')
    if (!isPage || typeof payload !== 'string') return payload
    return payload.replaceAll(/\b(?:href|action|src)="(?=\/)/g, `$&${base}`)
  })
}
