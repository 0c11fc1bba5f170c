import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { followRun } from './follow-run.ts'
import { STYLE } from './style.ts'

/** The icon of the window: two speech bubbles that became one round arrow. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#1d5fb8"/>
<g fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round">
<path d="M24 13a9 9 0 0 0-16.5-1.5M7 6.500v5.500h5.500"/>
<path d="M8 19a9 9 0 0 0 16.500 1.500M25 25.500v-5.500h-5.500"/>
</g>
</svg>
`

interface StaticFile {
  readonly type: string
  readonly text: string
  /** Changes with the text. */
  readonly digest: string
}

/** The compiler copies no files, so these come from memory: the same from the sources and once built. */
const FILES = new Map<string, StaticFile>([
  ['style.css', file('text/css', STYLE)],
  ['icon.svg', file('image/svg+xml', ICON)],
  // A function's own text is a script that type-checking has seen.
  ['follow-run.js', file('text/javascript', `(${followRun.toString()})()\n`)],
])

const READ = { config: { right: 'read' } } as const

/** Serves the pages' files under /static. */
export function staticRoutes(app: FastifyInstance): void {
  for (const [name, { type, text, digest }] of FILES) {
    const etag = `"${digest}"`
    app.get<{ Querystring: { v?: string } }>(`/static/${name}`, READ, (request, reply) => {
      const isExact = request.query.v === digest
      reply
        .header('etag', etag)
        // Without its digest in the address a file is asked for again each time, which the tag makes cheap.
        .header('cache-control', isExact ? 'private, max-age=31536000, immutable' : 'no-cache')
      if (request.headers['if-none-match'] === etag) return reply.code(304).send()
      return reply.type(`${type}; charset=utf-8`).send(text)
    })
  }
}

/** The address of a file, another one once the file is another. */
export function staticPath(name: string): string {
  return `/static/${name}?v=${FILES.get(name)?.digest ?? ''}`
}

function file(type: string, text: string): StaticFile {
  const digest = createHash('sha256').update(text).digest('base64url').slice(0, 12)
  return { type, text, digest }
}
