import { hkdfSync } from 'node:crypto'
import { Signer } from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Database } from '../../core/database/pool.ts'
import * as privacy from '../../core/database/statements/privacy.ts'
import { inTime } from '../../core/queue/queue.ts'
import { ProblemError } from '../problem.ts'

const SESSION_SECONDS = 12 * 3600
/** The clocks of two `serve` may differ by this much. */
const CLOCK_SECONDS = 60

/**
 * The sessions of browsers, in signed cookies. They are not stored, so signing out only removes the cookie from the browser.
 * Both functions throw a ProblemError 503 until the key was read from PostgreSQL once.
 *
 * The key that signs cookies is derived from HTTP_TOKEN and the secret of the database. Every `serve` with both accepts them,
 * and another token ends all sessions. Without the secret, a cookie does not allow testing guesses of the token.
 */
export function openSessions(app: FastifyInstance, token: string, database: Database) {
  let opened: Promise<Signer> | null = null
  const signer = () => (opened ??= open())
  const open = async () => {
    try {
      const { salt } = await inTime(privacy.salt.one(database), 2_000)
      return new Signer(Buffer.from(hkdfSync('sha256', token, salt, 'collab-sync session', 32)))
    } catch (err) {
      opened = null
      app.log.warn({ err }, 'the key of sessions cannot be read')
      throw new ProblemError(503, NO_KEY, { away: ['postgresql'], headers: { 'retry-after': '5' } })
    }
  }
  return {
    /** The ID of the token with which the session of a request began; null without a valid session. */
    async tokenId({ headers }: FastifyRequest): Promise<number | null> {
      const cookies = app.parseCookie(headers.cookie ?? '')
      const signed = cookies[NAME_OVER_HTTPS] ?? cookies[NAME]
      if (!signed) return null
      const { value } = (await signer()).unsign(signed)
      const [expires = 0, tokenId = 0] = value?.split('.').map(Number) ?? []
      const left = expires - Date.now() / 1000
      return left > 0 && left <= SESSION_SECONDS + CLOCK_SECONDS ? tokenId : null
    },
    /** Starts a session with this token in the browser. */
    async start(request: FastifyRequest, reply: FastifyReply, tokenId: number): Promise<void> {
      const expires = Math.floor(Date.now() / 1000) + SESSION_SECONDS
      const signed = (await signer()).sign(`${expires}.${tokenId}`)
      reply.setCookie(nameFor(request), signed, { ...attributes(request), maxAge: SESSION_SECONDS })
    },
  }
}

const NO_KEY =
  'Sessions are not available, because `serve` has not been able to read their key from PostgreSQL since it started; until then, only HTTP_TOKEN as a bearer token is accepted.'

const NAME = 'collab-sync-session'
/** Browsers accept a cookie of this name over https only, and from this host only. */
const NAME_OVER_HTTPS = `__Host-${NAME}`

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
