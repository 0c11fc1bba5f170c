import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** HTTP_BASE_PATH; empty without one. */
    basePath: string
  }
}

/** The path without the base where it begins with it: some proxies remove the base, and probes do not go through one. */
export function withoutBase(base: string, url: string): string {
  if (!url.startsWith(base) || !['', '/', '?'].includes(url.charAt(base.length))) return url
  const rest = url.slice(base.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** A page whose links, forms and files are under the base. Text holds no `="`: the renderer escapes its quotes. */
export function pageUnder(base: string, html: string): string {
  return html.replaceAll(/\b(?:href|action|src)="(?=\/)/g, `$&${base}`)
}

/** Puts the base before every path of ours in the pages and in the headers Location and Link. */
export function addBase(app: FastifyInstance, base: string): void {
  app.decorate('basePath', base)
  app.addHook('onSend', async (_request, reply, payload) => {
    for (const name of ['location', 'link']) {
      const value = reply.getHeader(name)
      if (typeof value === 'string') reply.header(name, value.replace(/^<?(?=\/)/, `$&${base}`))
    }
    const isPage = String(reply.getHeader('content-type')).startsWith('text/html')
    return isPage && typeof payload === 'string' ? pageUnder(base, payload) : payload
  })
}
