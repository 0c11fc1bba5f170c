import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SESSION_SECONDS } from './sessions.ts'

const NAME = 'collab-sync-session'
/** A browser takes a cookie of such a name over https only, and from no other host of the domain. */
const NAME_OVER_HTTPS = `__Host-${NAME}`

/** The session that a browser shows; null where it shows none. */
export function sessionCookieOf(app: FastifyInstance, request: FastifyRequest): string | null {
  const cookies = app.parseCookie(request.headers.cookie ?? '')
  return cookies[NAME_OVER_HTTPS] ?? cookies[NAME] ?? null
}

/** Hands a session to the browser that signs in. */
export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, value: string) {
  reply.setCookie(nameFor(request), value, { ...attributes(request), maxAge: SESSION_SECONDS })
}

/** Takes the session from the browser that signs out, also one that it got over http and shows over https. */
export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply) {
  for (const name of new Set([NAME, nameFor(request)])) reply.clearCookie(name, attributes(request))
}

function attributes(request: FastifyRequest) {
  return { path: '/', httpOnly: true, sameSite: 'strict', secure: isOverHttps(request) } as const
}

function nameFor(request: FastifyRequest): string {
  return isOverHttps(request) ? NAME_OVER_HTTPS : NAME
}

/** TLS ends before us, so the browser is asked: it says with every post from which page it comes. */
function isOverHttps({ headers }: FastifyRequest): boolean {
  return headers.origin?.startsWith('https://') ?? false
}
