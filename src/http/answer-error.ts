import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { codeOf, isConnectionLost } from '../core/database/connection-errors.ts'
import { EnvironmentError, UsageError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { renderFault } from './pages/layout.tsx'
import { nextOf, sendSignIn } from './auth/sign-in.ts'
import type { Readiness, ReadinessLook } from './probes.ts'
import { ProblemError, sendProblem } from './problem.ts'
import type { Fault, Part } from './problem.ts'

const RETRY_SECONDS = '5'

/**
 * Answers whatever went wrong: a problem document for programs, a page for people, which may ask for the token.
 * @param parts.readiness says what is away, where that is why something failed
 * @param parts.log hears of what nobody outside may see
 */
export function errorAnswers(parts: { readiness: ReadinessLook; log: Log }) {
  return async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const problem = await toProblem(error, request, parts)
    const { statusCode: status, message: sentence, facts } = problem
    if (!isForPerson(request)) return sendProblem(request, reply, problem)
    reply.headers(facts.headers ?? {})
    if (status === 401) return sendSignIn(reply, { status, failed: false, next: nextOf(request) })
    const title = STATUS_CODES[status] ?? 'Error'
    return reply.code(status).type(HTML).send(renderFault({ status, title, sentence }))
  }
}

const HTML = 'text/html; charset=utf-8'

/** A person with a browser, at whatever address; a program reads problem documents. */
function isForPerson(request: FastifyRequest): boolean {
  return /\btext\/html\b/.test(request.headers.accept ?? '')
}

async function toProblem(
  error: unknown,
  request: FastifyRequest,
  { readiness, log }: { readiness: ReadinessLook; log: Log },
): Promise<ProblemError> {
  if (error instanceof ProblemError) return error
  if (hasZodFastifySchemaValidationErrors(error)) return wrongRequest(error as FastifyError)
  if (error instanceof UsageError) return new ProblemError(400, error.message)
  // The time limit of an operation counts while its body is read.
  if (codeOf(error) === 'FST_ERR_HANDLER_TIMEOUT' && !request.raw.complete)
    return new ProblemError(408, 'The request did not come in time.', {
      headers: { connection: 'close' },
    })
  const { look } = readiness
  if (isAway(error) || (isOfTables(error) && (await look()).postgresql !== null)) {
    log.warn({ err: error, path: request.routeOptions.url }, 'http')
    return awayProblem(error, await look())
  }
  const status = (error as FastifyError | null)?.statusCode ?? 500
  if (status < 500) return new ProblemError(status, SENTENCES[status] ?? 'The request is wrong.')
  log.error({ err: error, method: request.method, path: request.routeOptions.url }, 'http')
  return new ProblemError(500, 'Something failed here; the log of `serve` says what.')
}

const SENTENCES: Record<number, string> = {
  400: 'The request cannot be read: its body must be what its Content-Type and Content-Length say, its path well-formed.',
  413: 'The body is too large.',
  414: 'The path is too long.',
  415: 'The body must be application/json.',
}

/** Each member that the schema refuses; an unknown one by its own name. */
function wrongRequest(error: FastifyError): ProblemError {
  const place = PLACES[error.validationContext ?? 'body'] ?? 'body'
  const faults = (error.validation ?? []).flatMap(({ instancePath, message, params }): Fault[] => {
    const parent = instancePath.split('/').filter(Boolean)
    // In the words of zod: "Invalid input: expected string, received number".
    const detail = (message ?? 'is wrong').replace(/^Invalid input: /, '').replace(/\.$/, '')
    const unknown = params['keys']
    return Array.isArray(unknown)
      ? unknown.map((name) => ({
          in: place,
          member: [...parent, String(name)].join('.'),
          detail: 'there is no such member',
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

/** Whether something failed because PostgreSQL, the queue or their tables are not there at the moment. */
export function isAway(error: unknown): boolean {
  if (error instanceof EnvironmentError || isConnectionLost(error)) return true
  if (error instanceof AggregateError) return error.errors.some(isAway)
  const code = codeOf(error) ?? ''
  if (AWAY_CODES.has(code)) return true
  return error instanceof Error && (AWAY_NAMES.has(error.name) || AWAY_MESSAGE.test(error.message))
}

/** No disk, read only, timeouts of a statement and of our own. */
const AWAY_CODES = new Set(['53100', '25006', '57014', 'FST_ERR_HANDLER_TIMEOUT'])
const AWAY_NAMES = new Set(['MaxRetriesPerRequestError'])
/** The words of ioredis, whose errors have no code. */
const AWAY_MESSAGE = /Connection is closed|enableOfflineQueue/

/** A table or column that is not there, which an upgrade may bring: no such schema, table, column. */
function isOfTables(error: unknown): boolean {
  return ['3F000', '42P01', '42703'].includes(codeOf(error) ?? '')
}

function awayProblem(cause: unknown, found: Readiness): ProblemError {
  const away = (Object.keys(found) as Part[]).filter((part) => found[part] !== null)
  const detail =
    away.length === 0
      ? 'PostgreSQL or the queue did not answer in time; try again.'
      : away.map((part) => found[part]).join(' ')
  return new ProblemError(503, detail, { away, cause, headers: { 'retry-after': RETRY_SECONDS } })
}

/** Answers what is no HTTP, or too large or too slow to be read, with a problem document, and hangs up. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error)
    return
  }
  const [status, detail] = ANSWERS[error.code ?? ''] ?? [400, 'The request is not HTTP.']
  const title = STATUS_CODES[status] ?? 'Bad Request'
  const body = JSON.stringify({ type: 'about:blank', title, status, detail })
  socket.end(
    [
      `HTTP/1.1 ${status} ${title}`,
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

const ANSWERS: Record<string, [status: number, detail: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not come in time.'],
}
