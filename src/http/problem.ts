import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'

/** The parts that an operation needs; the names in a problem's `away`. */
export type Part = 'postgresql' | 'queue'

const FaultSchema = z.object({
  in: z.enum(['body', 'query', 'path', 'header']).describe('The part of the request.'),
  member: z
    .string()
    .describe('The member at fault, such as `scope.documentId`; empty for the whole part.'),
  detail: z.string().describe('What is wrong with it.'),
})

/** One member of a request that is wrong. */
export type Fault = z.infer<typeof FaultSchema>

/** A problem document (RFC 9457): what every answer from 400 on is. */
export const ProblemSchema = z
  .object({
    type: z.literal('about:blank').describe('The status says what kind of problem it is.'),
    title: z.string().describe('The name of the status.'),
    status: z.int(),
    detail: z.string().describe('One sentence for a person.'),
    instance: z
      .string()
      .optional()
      .describe('The pattern of the path, such as `/v1/runs/:runId`; absent if no route matched.'),
    errors: z.array(FaultSchema).optional().describe('The members of the request at fault.'),
    away: z
      .array(z.enum(['postgresql', 'queue']))
      .optional()
      .describe('What cannot be reached at the moment.'),
  })
  .meta({ id: 'Problem', description: 'A problem document, RFC 9457.' })

/** What a problem contains besides its status and sentence. */
interface ProblemFacts {
  readonly errors?: Fault[]
  readonly away?: Part[]
  readonly headers?: Record<string, string>
}

/** A request that gets a problem for an answer. */
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

/** Answers with a problem document. */
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
      // Bytes, so that the answer is neither checked against the operation's own schema nor given a charset.
      .send(Buffer.from(JSON.stringify(problem)))
  )
}

/** The path of a request, without its query. It contains IDs: no log and no problem repeats it. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? ''
}
