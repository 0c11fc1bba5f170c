import type {
  FastifyBaseLogger,
  FastifyContextConfig,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import * as z from 'zod'
import type { SharedCollabSync } from '../../client/collab-sync.ts'
import type { Right } from '../auth/access-tokens.ts'
import { RunIdSchema } from '../../documents/check.ts'
import { LimitSchema } from '../../documents/page.ts'
import type { PageRequestSchema } from '../../documents/page.ts'
import type { ThingKind } from '../../documents/thing.ts'
import { UsageError } from '../../base/errors.ts'
import { ProblemError, ProblemSchema } from '../problem.ts'

/** What an operation says of itself in the OpenAPI document, and what is checked of its requests. */
export interface OperationParts {
  readonly id: string
  readonly tag:
    | 'Runs'
    | 'What needs a person'
    | 'Freshness'
    | 'Things'
    | 'Changes'
    | 'Catalog'
    | 'Schedule'
    | 'Actions'
  readonly summary: string
  readonly description?: string
  readonly params?: z.ZodType
  readonly querystring?: z.ZodType
  readonly headers?: z.ZodType
  readonly body?: z.ZodType
  /** What it answers with when all is well; its status is 200 where that is left out. */
  readonly answer: z.ZodType
  readonly answered: string
  readonly status?: 202
  /** JSON when left out. */
  readonly mediaType?: string
  /** What else it can answer with, besides the problems of every operation. */
  readonly problems?: readonly (keyof typeof PROBLEMS)[]
  readonly config?: FastifyContextConfig
}

const PROBLEMS = {
  400: 'The request is wrong; `errors` names the members.',
  401: 'No token, or a wrong one.',
  403: 'The rights of the token do not cover the operation, or the request comes from a page of another site.',
  404: 'There is no such thing.',
  408: 'The request did not come in time.',
  409: 'It cannot be done any more, or there is nothing to do.',
  410: 'The cursor is of another feed, or older than what is kept: start over from an export.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  422: 'The request is well-formed, but what it names is not in the catalog or does not fail, or its Idempotency-Key was used for another.',
  429: 'Too many at a time; `Retry-After` says when to come again.',
  500: 'Something failed here.',
  503: 'PostgreSQL or the queue is away; `away` says which, `Retry-After` when to come again.',
} as const

/** The problems of every operation, and of those that change something: they may have a body. */
const ALWAYS = [400, 401, 403, 408, 429, 500, 503] as const
const OF_BODIES = [413, 415] as const

/**
 * The options of an operation's route, of which its description is made too.
 * @param right that a token must have
 */
export function operation<Parts extends OperationParts>(right: Right, parts: Parts) {
  const { id, answer, answered, status, mediaType, problems, config, ...schema } = parts
  const ofRight = right === 'read' ? ALWAYS : [...ALWAYS, ...OF_BODIES]
  const problemStatuses = [...ofRight, ...(problems ?? [])].toSorted((one, two) => one - two)
  return {
    config: { ...config, right },
    schema: {
      ...schema,
      operationId: id,
      tags: [parts.tag],
      response: {
        [status ?? 200]: {
          description: answered,
          content: { [mediaType ?? 'application/json']: { schema: answer } },
        },
        ...Object.fromEntries(problemStatuses.map((each) => [each, problemAnswer(each)])),
      },
    },
  }
}

/** The id of an operation on one kind of thing: `getUserGroup`. */
export function operationId(verb: string, kind: ThingKind): string {
  return `${verb}${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
}

function problemAnswer(status: keyof typeof PROBLEMS) {
  const content = { 'application/problem+json': { schema: ProblemSchema } }
  return { description: PROBLEMS[status], content }
}

/** Of the operations of one run. */
export const RunPathSchema = z.strictObject({ runId: RunIdSchema })

/** Digits and nothing else are a number: paths and queries hold text alone. */
export function digits<S extends z.ZodType>(number: S) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value),
    number,
  )
}

/** A query holds text alone. */
export function withLimit<Shape extends Pick<(typeof PageRequestSchema)['shape'], 'limit'>>(
  request: z.ZodObject<Shape, z.core.$strict>,
) {
  const limit = digits(LimitSchema)
    .optional()
    .describe(request.shape.limit.description ?? '')
  return request.extend({ limit })
}

/** Names the cursor at fault. The rest of the query has been checked before. */
export function namingCursor(error: unknown): never {
  if (!(error instanceof UsageError)) throw error
  const [member] = /^(life|beneath)Cursor\b/.exec(error.message) ?? ['cursor']
  throw new ProblemError(400, error.message, {
    errors: [{ in: 'query', member, detail: 'must be the nextCursor of a page before' }],
  })
}

/** Limits the calls of an operation by all callers together, to protect PostgreSQL: callers can share a token. */
export function perSecond(max: number) {
  return { max, timeWindow: 1000, keyGenerator: () => 'all' }
}

/**
 * Lets so many pieces of work be in hand at a time and refuses the next, so that a PostgreSQL that is slow makes callers
 * come again rather than wait in a line that grows.
 * @throws ProblemError 429
 */
export function atMost(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  let inProgress = 0
  return async (work) => {
    if (inProgress >= max)
      throw new ProblemError(429, 'Too many at a time; try again in a second.', {
        headers: { 'retry-after': '1' },
      })
    inProgress += 1
    try {
      return await work()
    } finally {
      inProgress -= 1
    }
  }
}

/** Answers so where what was asked for cannot be done, though the request is sound. */
export function refused(status: 404 | 409 | 422): (error: unknown) => never {
  return (error) => {
    throw error instanceof UsageError ? new ProblemError(status, error.message) : error
  }
}

/** The API's part of the server, which types requests and responses by their schemas. */
export type V1App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** What the routes of the API work with. */
export interface V1Options {
  readonly collabSync: SharedCollabSync
}
