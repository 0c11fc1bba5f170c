import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'

/** The parts that an operation needs, and their names in `away` of a problem. */
export type Part = 'postgresql' | 'queue'

const FaultSchema = z.object({
  in: z.enum(['body', 'query', 'path', 'header']).describe('The part of the request.'),
  member: z
    .string()
    .describe('The wrong member, such as `scope.documentId`; empty for the whole part.'),
  detail: z.string().describe('What is wrong with it.'),
})

export type Fault = z.infer<typeof FaultSchema>

/** A problem document (RFC 9457), the body of every response with a status from 400. */
export const ProblemSchema = z
  .object({
    type: z.literal('about:blank').describe('The status is the kind of the problem.'),
    title: z.string().describe('The name of the status.'),
    status: z.int(),
    detail: z.string().describe('One sentence for a person.'),
    instance: z
      .string()
      .optional()
      .describe('The pattern of the path, such as `/v1/runs/:runId`; absent if no route matched.'),
    errors: z.array(FaultSchema).optional().describe('The wrong members of the request.'),
    away: z
      .array(z.enum(['postgresql', 'queue']))
      .optional()
      .describe('The parts that are unreachable.'),
  })
  .meta({ id: 'Problem', description: 'A problem document, RFC 9457.' })

interface ProblemFacts {
  readonly errors?: Fault[]
  readonly away?: Part[]
  readonly headers?: Record<string, string>
}

/** The response to a request is this problem. */
export class ProblemError extends Error {
  override name = 'ProblemError'
  /** 400 or above; the name is that of Fastify. */
  readonly statusCode: number
  readonly facts: ProblemFacts

  /** @param detail one sentence for a person */
  constructor(
    statusCode: number,
    detail: string,
    { cause, ...facts }: ProblemFacts & { cause?: unknown } = {},
  ) {
    super(detail, { cause })
    this.statusCode = statusCode
    this.facts = facts
  }
}

/** The problem of a path that names no run. */
export function noSuchRun(): ProblemError {
  return new ProblemError(404, 'There is no such run. It may have been pruned.', {
    errors: [{ in: 'path', member: 'runId', detail: 'must be the ID of a run' }],
  })
}

/** Responds with a problem document. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: ProblemError) {
  const { statusCode: status, message: detail, facts } = error
  const pattern = request.routeOptions.url
  const problem: z.infer<typeof ProblemSchema> = {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    instance: pattern && request.server.basePath + pattern,
    errors: facts.errors?.length ? facts.errors : undefined,
    away: facts.away?.length ? facts.away : undefined,
  }
  return (
    reply
      .code(status)
      .headers(facts.headers ?? {})
      .type('application/problem+json')
      // Bytes, so that Fastify neither checks it against the schema of the operation nor adds a charset.
      .send(Buffer.from(JSON.stringify(problem)))
  )
}

/** The path of a request, without its query. It contains IDs: no log and no problem repeats it. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? ''
}
