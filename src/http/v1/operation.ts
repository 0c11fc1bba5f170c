import { STATUS_CODES } from 'node:http'
import type { FastifyContextConfig } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import pLimit from 'p-limit'
import * as z from 'zod'
import type { SharedCollabSync } from '../../client/collab-sync.ts'
import type { Right } from '../auth/access-tokens.ts'
import { RunIdSchema } from '../../schemas/check.ts'
import { LimitSchema } from '../../schemas/page.ts'
import type { PageRequestSchema } from '../../schemas/page.ts'
import type { ThingKind } from '../../schemas/thing.ts'
import { UsageError } from '../../base/errors.ts'
import { ProblemError, ProblemSchema } from '../problem.ts'

/** Describes an operation in the OpenAPI document, and defines the checks of its requests. */
export interface OperationParts {
  readonly summary: string
  readonly description?: string
  readonly params?: z.ZodType
  readonly querystring?: z.ZodType
  readonly headers?: z.ZodType
  readonly body?: z.ZodType
  readonly response: z.ZodType
  readonly status?: 202
  /** JSON by default. */
  readonly mediaType?: string
  /** Problems besides those of every operation. */
  readonly problems?: readonly (keyof typeof PROBLEMS)[]
  readonly config?: FastifyContextConfig
}

const PROBLEMS = {
  400: 'The request is wrong. `errors` names the members.',
  401: 'The token is missing or wrong.',
  403: 'The rights of the token do not cover the operation, or a page of another site sent the request.',
  404: 'There is no such object.',
  408: 'The request was not received in time.',
  409: 'The operation is not possible any more, or has nothing to do.',
  410: 'The cursor is from another feed, or its changes are not stored any more. Start again from an export.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  422: 'The catalog does not list a scope of the request, its scopes do not fail, or its Idempotency-Key was used for another request.',
  429: 'Too many requests. Retry after the time in `Retry-After`.',
  500: 'An internal error occurred.',
  503: 'PostgreSQL or the queue is unreachable. `away` names it. Retry after the time in `Retry-After`.',
} as const

/** The problems of every operation, and those of operations that can have a body. */
const ALWAYS = [400, 401, 403, 408, 429, 500, 503] as const
const OF_BODIES = [413, 415] as const

/**
 * The options of an operation's route, which also describe it.
 * @param right that a token must have
 */
export function operation<Parts extends OperationParts>(right: Right, id: string, parts: Parts) {
  const { response, status = 200, mediaType, problems, config, ...schema } = parts
  const ofRight = right === 'read' ? ALWAYS : [...ALWAYS, ...OF_BODIES]
  const problemStatuses = [...ofRight, ...(problems ?? [])].toSorted((one, two) => one - two)
  return {
    config: { ...config, right },
    schema: {
      ...schema,
      operationId: id,
      response: {
        [status]: {
          description: STATUS_CODES[status],
          content: { [mediaType ?? 'application/json']: { schema: response } },
        },
        ...Object.fromEntries(problemStatuses.map((each) => [each, problemResponse(each)])),
      },
    },
  }
}

/** The ID of an operation on one kind of object, such as `getUserGroup`. */
export function operationId(verb: string, kind: ThingKind): string {
  return `${verb}${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
}

function problemResponse(status: keyof typeof PROBLEMS) {
  const content = { 'application/problem+json': { schema: ProblemSchema } }
  return { description: PROBLEMS[status], content }
}

export const RunPathSchema = z.strictObject({ runId: RunIdSchema })

/** Reads a number from a path or a query, which contain text only. */
export function digits<S extends z.ZodType>(number: S) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value),
    number,
  )
}

/** A request for a page whose `limit` is read from a query. */
export function withLimit<Shape extends Pick<(typeof PageRequestSchema)['shape'], 'limit'>>(
  request: z.ZodObject<Shape, z.core.$strict>,
) {
  const limit = digits(LimitSchema)
    .optional()
    .describe(request.shape.limit.description ?? '')
  return request.extend({ limit })
}

/** Names the wrong cursor. The other parameters were checked before. */
export function namingCursor(error: unknown): never {
  if (!(error instanceof UsageError)) throw error
  const [member] = /^(life|beneath)Cursor\b/.exec(error.message) ?? ['cursor']
  throw new ProblemError(400, error.message, {
    errors: [{ in: 'query', member, detail: 'must be the nextCursor of an earlier page' }],
  })
}

/** Limits the requests of all callers together, to protect PostgreSQL: callers can share a token. */
export function perSecond(max: number) {
  return { max, timeWindow: 1000, keyGenerator: () => 'all' }
}

/**
 * Limits concurrent work, so that callers of a slow PostgreSQL retry later instead of waiting in a growing queue.
 * @throws ProblemError 429 beyond the limit
 */
export function atMost(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  const limit = pLimit(max)
  return async (work) => {
    if (limit.activeCount >= max)
      throw new ProblemError(429, 'Too many requests. Retry in a second.', {
        headers: { 'retry-after': '1' },
      })
    return limit(work)
  }
}

/** Turns a UsageError, or one of a kind, into a problem with this status: the request is valid, but cannot be fulfilled. */
export function refused(status: 404 | 409 | 410 | 422, kind = UsageError) {
  return (error: unknown): never => {
    throw error instanceof kind ? new ProblemError(status, error.message) : error
  }
}

/** The routes of the API have the types of their schemas. */
export type V1App = Parameters<FastifyPluginAsyncZod>[0]

export interface V1Options {
  readonly collabSync: SharedCollabSync
}
