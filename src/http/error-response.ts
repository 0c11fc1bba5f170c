import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { codeOf, isConnectionLost } from '../core/database/connection-errors.ts'
import { EnvironmentError, UsageError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { sendFault } from './pages/layout.tsx'
import { nextOf } from './auth/sign-in.ts'
import { sendSignIn } from './pages/sign-in.tsx'
import type { Readiness, ReadinessCheck } from './probes.ts'
import { ProblemError, sendProblem } from './problem.ts'
import type { Fault, Part } from './problem.ts'

const RETRY_SECONDS = '5'

/**
 * The error handler: responds with a problem document to programs and with a page to browsers, which shows the sign-in form
 * if the token is missing.
 * @param parts.readiness names the part that is unreachable, if that is the cause
 * @param parts.log receives causes that the response must not contain
 */
export function errorResponses(parts: { readiness: ReadinessCheck; log: Log }) {
  return async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const problem = await toProblem(error, request, parts)
    const { statusCode: status, facts } = problem
    if (!/\btext\/html\b/.test(request.headers.accept ?? ''))
      return sendProblem(request, reply, problem)
    reply.headers(facts.headers ?? {})
    if (status === 401) return sendSignIn(reply, { failed: false, next: nextOf(request) })
    return sendFault(reply, problem)
  }
}

async function toProblem(
  error: unknown,
  request: FastifyRequest,
  { readiness, log }: { readiness: ReadinessCheck; log: Log },
): Promise<ProblemError> {
  if (error instanceof ProblemError) return error
  if (hasZodFastifySchemaValidationErrors(error)) return wrongRequest(error as FastifyError)
  if (error instanceof UsageError) return new ProblemError(400, error.message)
  // The time limit of a route includes the time in which its body is received.
  if (codeOf(error) === 'FST_ERR_HANDLER_TIMEOUT' && !request.raw.complete)
    return new ProblemError(408, 'The request was not received in time.', {
      headers: { connection: 'close' },
    })
  if (isAway(error) || (OF_TABLES.has(codeOf(error)) && (await readiness()).postgresql !== null)) {
    log.warn({ err: error, path: request.routeOptions.url }, 'http')
    return awayProblem(error, await readiness())
  }
  const { statusCode: status = 500, message } = (error ?? {}) as Partial<FastifyError>
  if (status < 500) return new ProblemError(status, `${message}.`)
  log.error({ err: error, method: request.method, path: request.routeOptions.url }, 'http')
  return new ProblemError(500, 'An internal error occurred. The log of `serve` has its cause.')
}

/** Names each member that the schema refuses. */
function wrongRequest(error: FastifyError): ProblemError {
  const place = PLACES[error.validationContext ?? 'body'] ?? 'body'
  const faults = (error.validation ?? []).flatMap(({ instancePath, message, params }): Fault[] => {
    const parent = instancePath.split('/').filter(Boolean)
    // zod says: "Invalid input: expected string, received number".
    const detail = (message ?? 'is wrong').replace(/^Invalid input: /, '').replace(/\.$/, '')
    const unknown = params['keys']
    return Array.isArray(unknown)
      ? unknown.map((name) => ({
          in: place,
          member: [...parent, String(name)].join('.'),
          detail: 'is not known',
        }))
      : [{ in: place, member: parent.join('.'), detail }]
  })
  const names = [...new Set(faults.map(({ member }) => member))].filter(Boolean)
  const where = names.length === 0 ? `The ${place}` : `${names.join(', ')} (${place})`
  return new ProblemError(400, `${where} is wrong: ${faults[0]?.detail}.`, { errors: faults })
}

const PLACES: Record<string, Fault['in']> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'header',
}

/** Whether an operation failed because PostgreSQL or the queue is unreachable. */
export function isAway(error: unknown): boolean {
  if (error instanceof EnvironmentError || isConnectionLost(error)) return true
  if (error instanceof AggregateError) return error.errors.some(isAway)
  const code = codeOf(error) ?? ''
  if (AWAY_CODES.has(code)) return true
  return error instanceof Error && (AWAY_NAMES.has(error.name) || AWAY_MESSAGE.test(error.message))
}

/** Disk full, read only, and timeouts of a statement and of a route. */
const AWAY_CODES = new Set(['53100', '25006', '57014', 'FST_ERR_HANDLER_TIMEOUT'])
const AWAY_NAMES = new Set(['MaxRetriesPerRequestError'])
/** Errors of ioredis have no code. */
const AWAY_MESSAGE = /Connection is closed|enableOfflineQueue/

/** A schema, table or column is missing, which an upgrade may add. */
const OF_TABLES = new Set<string | undefined>(['3F000', '42P01', '42703'])

function awayProblem(cause: unknown, found: Readiness): ProblemError {
  const away = (Object.keys(found) as Part[]).filter((part) => found[part] !== null)
  const detail =
    away.length === 0
      ? 'PostgreSQL or the queue did not respond in time. Try again.'
      : away.map((part) => found[part]).join(' ')
  return new ProblemError(503, detail, { away, cause, headers: { 'retry-after': RETRY_SECONDS } })
}
