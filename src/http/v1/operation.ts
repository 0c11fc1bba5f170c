import * as z from 'zod'
import { ProblemSchema } from '../problem.ts'

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
