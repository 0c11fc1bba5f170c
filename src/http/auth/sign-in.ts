import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { sendSignIn } from '../pages/sign-in.tsx'
import { ProblemError } from '../problem.ts'
import { originFault } from './authentication.ts'
import type { Authentication } from './authentication.ts'
import { clearSessionCookie } from './sessions.ts'

const FORM_BYTES_MAX = 16 * 1024

const FormSchema = z.object({ token: z.string(), next: z.string().default('/') })

/** Signs browsers in and out; a Fastify plugin. */
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
        return sendSignIn(reply, { failed: true, next })
      }
      await lock.sessions.start(request, reply, access.tokenId)
      return reply.redirect(localPath(next), 303)
    },
  )
  app.get('/sign-in', { config: { right: 'read' } }, async (_request, reply) =>
    reply.redirect('/', 303),
  )
  app.post('/sign-out', { config: { right: 'read' } }, async (request, reply) => {
    clearSessionCookie(request, reply)
    return reply.redirect('/', 303)
  })
}

/** The page to open after signing in: the one that was requested. */
export function nextOf(request: FastifyRequest): string {
  return request.method === 'GET' ? localPath(request.url) : '/'
}

/** The path and query of an address on this server; `/` for an address anywhere else. */
function localPath(next: string): string {
  const here = 'http://here.invalid'
  if (!next.startsWith('/') || !URL.canParse(next, here)) return '/'
  const url = new URL(next, here)
  const path = `${url.pathname}${url.search}`
  // A path that starts with two slashes is an address of another server.
  return url.origin === here && !path.startsWith('//') && url.pathname !== '/sign-in' ? path : '/'
}
