import { createHash } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { renderSignIn } from '../pages/sign-in.tsx'
import { STYLE } from '../pages/static/style.ts'
import { pageUnder } from '../base-path.ts'
import { ProblemError } from '../problem.ts'
import { originFault } from './authentication.ts'
import type { Authentication } from './authentication.ts'
import { clearSessionCookie, setSessionCookie } from './sessions.ts'

const FORM_BYTES_MAX = 16 * 1024

const FormSchema = z.object({ token: z.string(), next: z.string().default('/') })

/** Signing in and out, for people; a Fastify plugin. */
export async function signIn(
  app: FastifyInstance,
  { authentication: { lock } }: { authentication: Authentication },
): Promise<void> {
  await app.register(formbody)
  app.post(
    '/sign-in',
    { config: { right: 'none' }, bodyLimit: FORM_BYTES_MAX },
    async (request, reply) => {
      const fault = originFault(request)
      if (fault !== null) throw new ProblemError(403, fault)
      const form = FormSchema.safeParse(request.body)
      const next = form.success ? form.data.next : '/'
      if (lock === null) return reply.redirect(localPath(next), 303)
      const access = await lock.tokens.find(form.data?.token ?? '')
      if (access === null) {
        await lock.countFailure(request)
        return sendSignIn(reply, { status: 401, failed: true, next })
      }
      setSessionCookie(request, reply, access.tokenId)
      return reply.redirect(localPath(next), 303)
    },
  )
  // Who gets this far is signed in.
  app.get('/sign-in', { config: { right: 'read' } }, async (_request, reply) =>
    reply.redirect('/', 303),
  )
  app.post('/sign-out', { config: { right: 'read' } }, async (request, reply) => {
    clearSessionCookie(request, reply)
    return reply.redirect('/', 303)
  })
}

/**
 * Answers a browser that shows no token with the page that asks for it. Written past the hooks of the route behind the
 * authentication: what they do to pages of their own would lock this one up.
 */
export function sendSignIn(
  reply: FastifyReply,
  page: { status: number; failed: boolean; next: string },
): FastifyReply {
  const { basePath } = reply.server
  const html = Buffer.from(pageUnder(basePath, renderSignIn(page)))
  reply.hijack()
  reply.raw.writeHead(page.status, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-security-policy': SIGN_IN_POLICY,
    'content-type': 'text/html; charset=utf-8',
    'content-length': html.length,
  })
  reply.raw.end(html)
  return reply
}

/** Where to go once signed in: back to the page that was asked for. */
export function nextOf(request: FastifyRequest): string {
  return request.method === 'GET' ? localPath(request.url) : '/'
}

const SIGN_IN_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

/** The path and query of an address on this server; `/` for an address anywhere else. */
function localPath(next: string): string {
  const here = 'http://here.invalid'
  if (!next.startsWith('/') || !URL.canParse(next, here)) return '/'
  const url = new URL(next, here)
  const path = `${url.pathname}${url.search}`
  // A path that begins with two slashes is an address of another server.
  return url.origin === here && !path.startsWith('//') && url.pathname !== '/sign-in' ? path : '/'
}
