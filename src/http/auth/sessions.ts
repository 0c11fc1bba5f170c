import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Signed-in browsers. Nothing is kept of them, so that any `serve` on the same token knows them. */
export interface Sessions {
  /** The value of a new session's cookie; it says with which token it began. */
  issue(tokenId: number, nowMs?: number): string
  /** The token that a session began with; null for what is no session of ours, or over. */
  tokenIdOf(value: string, nowMs?: number): number | null
}

export const SESSION_SECONDS = 12 * 3600

/**
 * Sessions on a key that is made from HTTP_TOKEN: another one ends them all. A session cannot be ended one by one;
 * signing out takes the cookie from its browser.
 */
export function openSessions(token: string): Sessions {
  const key = Buffer.from(hkdfSync('sha256', token, '', 'collab-sync session', 32))
  const sign = (claims: string) => createHmac('sha256', key).update(claims).digest()
  return {
    issue(tokenId, nowMs = Date.now()) {
      const claims = `${Math.floor(nowMs / 1000) + SESSION_SECONDS}.${tokenId}`
      return `${claims}.${sign(claims).toString('base64url')}`
    },
    tokenIdOf(value, nowMs = Date.now()) {
      const [, claims = '', expires, tokenId, signature] =
        /^((\d{1,12})\.(\d{1,15}))\.([\w-]{43})$/.exec(value) ?? []
      if (signature === undefined) return null
      const isOurs = timingSafeEqual(Buffer.from(signature, 'base64url'), sign(claims))
      return isOurs && Number(expires) * 1000 > nowMs ? Number(tokenId) : null
    },
  }
}

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
