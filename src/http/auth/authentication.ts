import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Right } from './access-tokens.ts'
import { isThisMachine } from '../../base/this-machine.ts'
import type { Database } from '../../core/database/pool.ts'
import { ProblemError } from '../problem.ts'
import { sessionTokenId } from './sessions.ts'
import { bearerOf, covers, limitFailures, openTokens } from './tokens.ts'
import type { Access, Lock, Tokens } from './tokens.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a token must allow; `none` for the few routes that ask for no token. No route may leave it out. */
    right?: Right | 'none'
  }
  interface FastifyRequest {
    /** The name that its actions are listed under. */
    by: string
    /** Whether the rights of its token cover what changes something. */
    mayOperate: boolean
  }
}

/** What stands between a request and everything else. */
export interface Authentication {
  /** Null without HTTP_TOKEN. */
  readonly lock: Lock | null
  /**
   * Lets a request pass, or not.
   * @throws ProblemError 401 where it shows no token or a wrong one, 403 where the token's rights do not cover it or it
   *   comes from elsewhere, 429 for a wrong one after too many
   */
  check(request: FastifyRequest): Promise<void>
}

/**
 * With HTTP_TOKEN, asks for it or for a token in PostgreSQL: as a bearer, or as a session that it was exchanged for.
 * Without it, serves programs and pages of this machine alone.
 * @param parts.token HTTP_TOKEN
 */
export function openAuthentication(
  app: FastifyInstance,
  { token, database }: { token: string | undefined; database: Database },
): Authentication {
  app.decorateRequest('by', 'this machine')
  app.decorateRequest('mayOperate', true)
  if (token === undefined) return { lock: null, check: async (request) => checkLocal(request) }
  const lock = { tokens: openTokens(token, database), countFailure: limitFailures(app) }
  return {
    lock,
    async check(request) {
      // Only where there is no route is nothing declared, and nothing to be had.
      const { right = 'read' } = request.routeOptions.config ?? {}
      if (right === 'none') return
      const { name, rights } = await accessOf(app, lock, request)
      request.by = name
      request.mayOperate = covers(rights, 'operate')
      if (!covers(rights, right))
        throw new ProblemError(
          403,
          `This takes a token with the rights "${right}"; this one has "${rights}".`,
        )
    },
  }
}

function checkLocal(request: FastifyRequest): void {
  const fault = hostFault(request) ?? (isFromElsewhere(request) ? originFault(request) : null)
  if (fault !== null) throw new ProblemError(403, fault)
}

/** A link from another site may lead to our pages; nothing else of another site may reach us. */
function isFromElsewhere(request: FastifyRequest): boolean {
  return mayChange(request) || request.headers.origin !== undefined
}

/**
 * The access of a request: by its bearer, else by its session. A proxy that signs people in adds a bearer of its own to
 * the requests of a browser, so a bearer that is no token of ours is a failed try only without a session.
 */
async function accessOf(
  app: FastifyInstance,
  lock: Lock,
  request: FastifyRequest,
): Promise<Access> {
  const { tokens } = lock
  const bearer = bearerOf(request.headers.authorization)
  const access = bearer === null ? null : await tokens.find(bearer)
  if (access !== null) return access
  const session = await sessionAccess(app, tokens, request)
  if (session !== null) return session
  if (bearer === null) throw unauthorized('Show a token.')
  if (!tokens.isForeign(bearer)) await lock.countFailure(request)
  throw unauthorized('There is no such token.')
}

/**
 * The access of a request's session; null where it has none. A browser sends the cookie by itself, so it has to say too
 * that a page of ours asked.
 * @throws ProblemError 403 where it does not
 */
async function sessionAccess(
  app: FastifyInstance,
  tokens: Tokens,
  request: FastifyRequest,
): Promise<Access | null> {
  const tokenId = sessionTokenId(app, request)
  const access = tokenId === null ? null : await tokens.current(tokenId)
  if (access === null || !mayChange(request)) return access
  const fault = originFault(request)
  if (fault !== null) throw new ProblemError(403, fault)
  if (!saysWhereFrom(request))
    throw new ProblemError(403, 'The request does not say which page it comes from.')
  return access
}

function unauthorized(detail: string): ProblemError {
  return new ProblemError(401, detail, {
    headers: { 'www-authenticate': 'Bearer realm="collab-sync"' },
  })
}

/**
 * What is wrong with the `Host` of a request to a server without a token; null where nothing is. A page of a stranger
 * whose name leads to this machine (DNS rebinding) is found by it.
 */
function hostFault(request: FastifyRequest): string | null {
  const host = parsed(`http://${request.headers.host ?? ''}`)
  return host !== null && isThisMachine(host.hostname)
    ? null
    : 'Without HTTP_TOKEN this server answers to names of this machine only, such as localhost.'
}

/** What is wrong with where a browser says that a request comes from; null where it comes from our own pages. */
export function originFault(request: FastifyRequest): string | null {
  const { origin, host } = request.headers
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return 'The request comes from a page of another site.'
  if (origin === undefined) return null
  const from = parsed(origin)?.host
  return from !== undefined && from === parsed(`${schemeOf(origin)}//${host ?? ''}`)?.host
    ? null
    : 'The request comes from a page of another origin than the one it goes to.'
}

/** Whether a browser says of a request that it comes from our own pages: older ones send `Origin` with a post too. */
function saysWhereFrom({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined
}

/** Whether a request may change something (RFC 9110, 9.2.1). */
function mayChange({ method }: FastifyRequest): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method)
}

/** With the scheme of the origin its usual port can be left out on either side. */
function schemeOf(origin: string): string {
  return origin.startsWith('https:') ? 'https:' : 'http:'
}

function parsed(address: string): URL | null {
  if (!URL.canParse(address)) return null
  const url = new URL(address)
  return url.host === '' || url.username !== '' || url.pathname !== '/' ? null : url
}
