import { hkdfSync } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const SESSION_SECONDS = 12 * 3600

/**
 * The key that signs session cookies is derived from HTTP_TOKEN. Every `serve` with the same token accepts them, and another
 * token ends all sessions. Sessions are not stored, so signing out only removes the cookie from the browser.
 */
export function sessionKey(token: string): Buffer {
  return Buffer.from(hkdfSync('sha256', token, '', 'collab-sync session', 32))
}

const NAME = 'collab-sync-session'
/** Browsers accept a cookie of this name over https only, and from this host only. */
const NAME_OVER_HTTPS = `__Host-${NAME}`

/** The ID of the token with which the session of a request began; null without a valid session. */
export function sessionTokenId(app: FastifyInstance, request: FastifyRequest): number | null {
  const cookies = app.parseCookie(request.headers.cookie ?? '')
  const { value } = app.unsignCookie(cookies[NAME_OVER_HTTPS] ?? cookies[NAME] ?? '')
  const [expires = 0, tokenId = 0] = value?.split('.').map(Number) ?? []
  return expires * 1000 > Date.now() ? tokenId : null
}

/** Starts a session with this token in the browser. */
export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, tokenId: number) {
  const value = `${Math.floor(Date.now() / 1000) + SESSION_SECONDS}.${tokenId}`
  const options = { ...attributes(request), maxAge: SESSION_SECONDS, signed: true }
  reply.setCookie(nameFor(request), value, options)
}

/** Ends the session in the browser, also if it began over http and is sent over https. */
export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply) {
  for (const name of new Set([NAME, nameFor(request)])) reply.clearCookie(name, attributes(request))
}

function attributes(request: FastifyRequest) {
  return { path: '/', httpOnly: true, sameSite: 'strict', secure: isOverHttps(request) } as const
}

function nameFor(request: FastifyRequest): string {
  return isOverHttps(request) ? NAME_OVER_HTTPS : NAME
}

/** A proxy ends TLS, so the `Origin` that browsers send with every post shows the scheme. */
function isOverHttps({ headers }: FastifyRequest): boolean {
  return headers.origin?.startsWith('https://') ?? false
}
