import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ProblemError } from '../problem.ts'
import { bearerOf, tokenCheck } from './access-token.ts'
import { FailedTries } from './failed-tries.ts'
import { hostFault, mayChange, originFault, saysWhereFrom } from './origins.ts'
import { sessionCookieOf } from './session-cookie.ts'
import { openSessions } from './sessions.ts'
import { tryToken } from './try-token.ts'
import type { Lock } from './try-token.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for the few routes that ask for no token. */
    isOpen?: true
  }
}

/** What stands between a request and everything else. */
export interface Door {
  /** Null without HTTP_TOKEN. */
  readonly lock: Lock | null
  /**
   * Lets a request pass, or not.
   * @throws ProblemError 401 where it shows no token or a wrong one, 403 where it comes from elsewhere, 429 after too
   *   many wrong ones
   */
  check(request: FastifyRequest): Promise<void>
}

/**
 * With a token, asks for it: as a bearer, or as a session that it was exchanged for. Without one, serves programs and
 * pages of this machine alone.
 * @param token HTTP_TOKEN
 */
export function openDoor(app: FastifyInstance, token: string | undefined): Door {
  if (token === undefined) return { lock: null, check: async (request) => checkLocal(request) }
  const lock: Lock = {
    isToken: tokenCheck(token),
    sessions: openSessions(token),
    failedTries: new FailedTries(),
  }
  return {
    lock,
    async check(request) {
      if (request.routeOptions.config?.isOpen) return
      const bearer = bearerOf(request.headers.authorization)
      if (bearer !== null) return checkBearer(lock, request, bearer)
      const session = sessionCookieOf(app, request)
      if (session === null || !lock.sessions.isValid(session)) throw unauthorized('Show the token.')
      checkSession(request)
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

async function checkBearer(lock: Lock, request: FastifyRequest, bearer: string): Promise<void> {
  if (!(await tryToken(lock, request.ip, bearer))) throw unauthorized('That is not the token.')
}

/** A browser sends the cookie by itself, so it has to say too that a page of ours asked. */
function checkSession(request: FastifyRequest): void {
  if (!mayChange(request)) return
  const fault = originFault(request)
  if (fault !== null) throw new ProblemError(403, fault)
  if (!saysWhereFrom(request))
    throw new ProblemError(403, 'The request does not say which page it comes from.')
}

function unauthorized(detail: string): ProblemError {
  return new ProblemError(401, detail, {
    headers: { 'www-authenticate': 'Bearer realm="collab-sync"' },
  })
}
