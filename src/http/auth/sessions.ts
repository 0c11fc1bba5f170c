import { hkdfSync } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const SESSION_SECONDS = 12 * 3600

/**
 * The key that signs session cookies is made from HTTP_TOKEN, so that each `serve` with the same token accepts them and another
 * token ends all sessions. No session is stored, so none can be ended by itself: signing out removes the cookie from its browser.
 */
export function sessionKey(token: string): Buffer {
  return Buffer.from(hkdfSync('sha256', token, '', 'collab-sync session', 32))
}

const NAME = 'collab-sync-session'
/** A browser takes a cookie of such a name over https only, and from no other host of the domain. */
const NAME_OVER_HTTPS = `__Host-${NAME}`

/** The ID of the token with which the session of a request began; null without a valid session. */
export function sessionTokenId(app: FastifyInstance, request: FastifyRequest): number | null {
  const cookies = app.parseCookie(request.headers.cookie ?? '')
  const { value } = app.unsignCookie(cookies[NAME_OVER_HTTPS] ?? cookies[NAME] ?? '')
  const [expires = 0, tokenId = 0] = value?.split('.').map(Number) ?? []
  return expires * 1000 > Date.now() ? tokenId : null
}

/** Hands a session that begins with this token to the browser that signs in. */
export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, tokenId: number) {
  const value = `${Math.floor(Date.now() / 1000) + SESSION_SECONDS}.${tokenId}`
  const options = { ...attributes(request), maxAge: SESSION_SECONDS, signed: true }
  reply.setCookie(nameFor(request), value, options)
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
