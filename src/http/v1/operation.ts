import type { FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import type { CollabSync, Page } from '../../client/collab-sync.ts'
import { UsageError } from '../../errors.ts'
import { pathOf, ProblemError, ProblemSchema } from '../problem.ts'

/** What an operation says of itself in the OpenAPI document, and what is checked of its requests. */
export interface OperationParts {
  readonly id: string
  readonly tag: 'Runs' | 'What needs a person' | 'Freshness' | 'Schedule'
  readonly summary: string
  readonly description?: string
}

const PROBLEMS = {
  400: 'The request is wrong; `errors` names the members.',
  401: 'No token, or a wrong one.',
  403: 'The rights of the token do not cover the operation, or the request comes from a page of another site.',
  404: 'There is no such thing.',
  408: 'The request did not come in time.',
  409: 'It cannot be done any more, or there is nothing to do.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  422: 'The request is well-formed, but what it names is not in the catalog, or its Idempotency-Key was used for another.',
  429: 'Too many at a time; `Retry-After` says when to come again.',
  500: 'Something failed here.',
  503: 'PostgreSQL or the queue is away; `away` says which, `Retry-After` when to come again.',
} as const

/** What any operation can be answered with. */
const ALWAYS = [400, 401, 403, 408, 429, 500, 503] as const

/** The part of a route's schema that describes it. */
export function operation(parts: OperationParts) {
  const { id, tag, summary, description } = parts
  return { operationId: id, tags: [tag], summary, ...(description ? { description } : {}) }
}

/**
 * The answers of an operation: one when all is well, the problems it has of its own, and those of every operation.
 * @param options.mediaType of the answer when all is well; JSON when left out
 */
export function answers(
  status: 200 | 202,
  schema: z.ZodType,
  options: {
    description: string
    problems?: readonly (keyof typeof PROBLEMS)[]
    mediaType?: string
  },
): Record<number, object> {
  const problems = [...ALWAYS, ...(options.problems ?? [])].toSorted((one, two) => one - two)
  return {
    [status]: {
      description: options.description,
      content: { [options.mediaType ?? 'application/json']: { schema } },
    },
    ...Object.fromEntries(
      problems.map((each) => [
        each,
        {
          description: PROBLEMS[each],
          content: { 'application/problem+json': { schema: ProblemSchema } },
        },
      ]),
    ),
  }
}

/** A page of a listing. */
export function pageSchema(item: z.ZodType) {
  return z.object({
    items: z.array(item),
    nextCursor: z.string().nullable().describe('Null on the last page.'),
  })
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

/**
 * Answers with a page of a listing, and says in `Link` where the next one is (RFC 8288).
 * @param query as it was checked: the next page is asked for with the same
 */
export async function sendPage<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  query: Record<string, string | number | undefined>,
  list: () => Promise<Page<T>>,
) {
  const page = await namingCursor(query['cursor'], list)
  if (page.nextCursor !== null) {
    const next = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...query, cursor: page.nextCursor }))
      if (value !== undefined) next.set(name, String(value))
    reply.header('link', `<${pathOf(request)}?${next}>; rel="next"`)
  }
  return reply.send(page)
}

/** Everything else in a listing's query has been checked before, so what is left to be wrong is the cursor. */
async function namingCursor<T>(cursor: unknown, list: () => Promise<T>): Promise<T> {
  try {
    return await list()
  } catch (error) {
    if (!(error instanceof UsageError) || cursor === undefined) throw error
    throw new ProblemError(400, error.message, {
      errors: [
        { in: 'query', member: 'cursor', detail: 'must be the nextCursor of a page before' },
      ],
    })
  }
}

/** What the routes of the API work with. */
export interface V1Options {
  readonly collabSync: CollabSync
}
