import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { followRun } from './follow-run.ts'
import { STYLE } from './style.ts'

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#1d5fb8"/>
<g fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round">
<path d="M24 13a9 9 0 0 0-16.5-1.5M7 6.500v5.500h5.500"/>
<path d="M8 19a9 9 0 0 0 16.500 1.500M25 25.500v-5.500h-5.500"/>
</g>
</svg>
`

/** The compiler copies no files, so these are served from memory. */
const FILES = new Map([
  ['style.css', file('text/css', STYLE)],
  ['icon.svg', file('image/svg+xml', ICON)],
  // The text of the function is the script.
  ['follow-run.js', file('text/javascript', `(${followRun.toString()})()\n`)],
])

const OPEN = { config: { right: 'none' } } as const

/** Serves the pages' files under /static. They need no token, because the sign-in page loads them. */
export function staticRoutes(app: FastifyInstance): void {
  for (const [name, { type, text, digest }] of FILES)
    app.get<{ Querystring: { v?: string } }>(`/static/${name}`, OPEN, async (request, reply) => {
      // During an upgrade, the page can come from another version of `serve`.
      if (request.query.v === digest)
        reply.header('cache-control', 'private, max-age=31536000, immutable')
      return reply.type(`${type}; charset=utf-8`).send(text)
    })
}

/** The address of a file, which changes with the file. */
export function staticPath(name: string): string {
  return `/static/${name}?v=${FILES.get(name)?.digest ?? ''}`
}

function file(type: string, text: string) {
  const digest = createHash('sha256').update(text).digest('base64url').slice(0, 12)
  return { type, text, digest }
}
