import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Right } from './access-tokens.ts'
import { isThisMachine } from '../../base/this-machine.ts'
import type { Database } from '../../core/database/pool.ts'
import { ProblemError } from '../problem.ts'
import { openSessions } from './sessions.ts'
import { bearerOf, covers, limitFailures, openTokens } from './tokens.ts'
import type { Access, Lock } from './tokens.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The right that a token must have; `none` if the route needs no token. Every route has one. */
    right?: Right | 'none'
  }
  interface FastifyRequest {
    /** The name for its actions in the history. */
    by: string
    /** Its token; null without HTTP_TOKEN, where every request has all rights. */
    access: Access | null
  }
}

export type Authentication = ReturnType<typeof openAuthentication>

/**
 * Checks every request before its route. With HTTP_TOKEN, requires it or a token of PostgreSQL, as a bearer or by a session.
 * Without it, there is no lock: only programs and pages of this machine are accepted.
 */
export function openAuthentication(
  app: FastifyInstance,
  token: string | undefined,
  database: Database,
) {
  app.decorateRequest('by', 'this machine')
  app.decorateRequest('access', null)
  if (token === undefined)
    return { lock: null, check: async (request: FastifyRequest) => checkLocal(request) }
  const lock: Lock = {
    tokens: openTokens(token, database),
    sessions: openSessions(app, token, database),
    countFailure: limitFailures(app),
  }
  return {
    lock,
    /**
     * @throws ProblemError 401 if the token is missing or wrong, 403 if its rights do not cover the request or the request
     *   comes from another site, 429 for a wrong token after too many
     */
    async check(request: FastifyRequest): Promise<void> {
      // Only an unknown path has no right.
      const { right = 'read' } = request.routeOptions.config ?? {}
      if (right === 'none') return
      const access = await accessOf(lock, request)
      const { name, rights } = access
      request.by = name
      request.access = access
      if (!covers(rights, right))
        throw new ProblemError(
          403,
          `This requires a token with the rights "${right}"; the token has "${rights}".`,
        )
    },
  }
}

function checkLocal(request: FastifyRequest): void {
  // Another site may link to the pages, but send no other request.
  const isMoreThanALink = mayChange(request) || request.headers.origin !== undefined
  const fault = hostFault(request) ?? (isMoreThanALink ? originFault(request) : null)
  if (fault !== null) throw new ProblemError(403, fault)
}

/**
 * The access of a request, by its bearer or else by its session. A proxy that signs users in can add its own bearer to the
 * requests of a browser, so an unknown bearer is a failed attempt only without a session.
 */
async function accessOf(lock: Lock, request: FastifyRequest): Promise<Access> {
  const { tokens } = lock
  const bearer = bearerOf(request.headers.authorization)
  const access = bearer === null ? null : await tokens.find(bearer)
  if (access !== null) return access
  const session = await sessionAccess(lock, request)
  if (session !== null) return session
  if (bearer === null) throw unauthorized('A token is required.')
  if (!tokens.isForeign(bearer)) await lock.countFailure(request)
  throw unauthorized('The token is wrong.')
}

/**
 * The access of a request's session; null without one. A browser also sends the cookie for other sites, so a change needs
 * proof that a page of this server sent it.
 * @throws ProblemError 403 without that proof
 */
async function sessionAccess(lock: Lock, request: FastifyRequest): Promise<Access | null> {
  const tokenId = await lock.sessions.tokenId(request)
  const access = tokenId === null ? null : await lock.tokens.current(tokenId)
  if (access === null || !mayChange(request)) return access
  const fault = originFault(request)
  if (fault !== null) throw new ProblemError(403, fault)
  if (request.headers.origin === undefined && request.headers['sec-fetch-site'] === undefined)
    throw new ProblemError(403, 'The request has no header that names the page it comes from.')
  return access
}

function unauthorized(detail: string): ProblemError {
  return new ProblemError(401, detail, {
    headers: { 'www-authenticate': 'Bearer realm="collab-sync"' },
  })
}

/**
 * What is wrong with the `Host` of a request to a server without a token, or null. Detects a page of another site whose name
 * resolves to this machine (DNS rebinding).
 */
function hostFault(request: FastifyRequest): string | null {
  const host = parsed(`http://${request.headers.host ?? ''}`)
  return host !== null && isThisMachine(host.hostname)
    ? null
    : 'Without HTTP_TOKEN, the server accepts only host names of this machine, such as localhost.'
}

/** What is wrong with the origin of a request, or null if a page of this server sent it. */
export function originFault(request: FastifyRequest): string | null {
  const { origin, host } = request.headers
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return 'The request comes from a page of another site.'
  if (origin === undefined) return null
  const from = parsed(origin)?.host
  // The default port of the scheme can be omitted on either side.
  const scheme = origin.startsWith('https:') ? 'https:' : 'http:'
  return from !== undefined && from === parsed(`${scheme}//${host ?? ''}`)?.host
    ? null
    : 'The request comes from a page of another origin than the one it goes to.'
}

/** Whether a request may change something (RFC 9110, 9.2.1). */
function mayChange({ method }: FastifyRequest): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method)
}

function parsed(address: string): URL | null {
  if (!URL.canParse(address)) return null
  const url = new URL(address)
  return url.host === '' || url.username !== '' || url.pathname !== '/' ? null : url
}
