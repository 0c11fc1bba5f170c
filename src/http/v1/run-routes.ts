import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import * as z from 'zod'
import { RUN_STATUSES } from '../../database/run-reports.ts'
import { UsageError } from '../../errors.ts'
import { parseScope } from '../../scope.ts'
import type { Scope } from '../../scope.ts'
import { ProblemError } from '../problem.ts'
import { atMost } from './at-most.ts'
import { sendPage } from './listing.ts'
import { answers, operation, pageSchema } from './operation.ts'
import { IdempotencySchema, NewRunSchema, RunIdSchema, pageOf } from './request-schemas.ts'
import { AcceptedRunSchema, RunDetailsSchema, RunSchema } from './schemas.ts'
import type { V1Options } from './options.ts'

/** Runs asked for in a second, all callers together; each is a transaction and some jobs. */
export const RUNS_A_SECOND = { max: 50, timeWindow: 1000 } as const
/** Of which so many at a time: a few for each connection to PostgreSQL. */
const RUNS_IN_HAND = 50

/** Asking for runs and reading them; a Fastify plugin. */
export async function runRoutes(plain: FastifyInstance, { collabSync }: V1Options): Promise<void> {
  const app = plain.withTypeProvider<ZodTypeProvider>()
  const inTurn = atMost(RUNS_IN_HAND)
  app.post(
    '/runs',
    {
      config: { right: 'operate', rateLimit: RUNS_A_SECOND },
      schema: {
        ...operation({
          id: 'startRun',
          tag: 'Runs',
          summary: 'Ask for a run',
          description: 'Workers take it up; `Location` says where to follow it.',
        }),
        headers: IdempotencySchema,
        body: NewRunSchema,
        response: answers(202, AcceptedRunSchema, {
          description: 'The run is asked for.',
          problems: [413, 415, 422],
        }),
      },
    },
    async (request, reply) => {
      const scope = checkedScope(request.body.scope)
      const key = keyOf(request.headers['idempotency-key'])
      const started = await inTurn(() => collabSync.startRun({ scope, ...key })).catch(
        (error: unknown) => {
          throw error instanceof UsageError ? new ProblemError(422, error.message) : error
        },
      )
      return reply.code(202).header('location', `/v1/runs/${started.runId}`).send(started)
    },
  )
  app.get(
    '/runs',
    {
      config: { right: 'read' },
      schema: {
        ...operation({ id: 'listRuns', tag: 'Runs', summary: 'Runs, the newest first' }),
        querystring: pageOf({ status: z.enum(RUN_STATUSES).optional() }),
        response: answers(200, pageSchema(RunSchema), { description: 'A page of runs.' }),
      },
    },
    async (request, reply) =>
      sendPage(request, reply, request.query, () => collabSync.listRuns(present(request.query))),
  )
  app.get(
    '/runs/:runId',
    {
      config: { right: 'read' },
      schema: {
        ...operation({ id: 'getRun', tag: 'Runs', summary: 'One run, with why scopes failed' }),
        params: RunIdSchema,
        response: answers(200, RunDetailsSchema, { description: 'The run.', problems: [404] }),
      },
    },
    async (request, reply) => {
      const run = await collabSync.getRun(request.params.runId)
      if (run === null) throw noSuchRun()
      return reply.send(run)
    },
  )
}

/** A request's members without those that are left out. */
export function present<T extends object>(
  members: T,
): { [M in keyof T]: Exclude<T[M], undefined> } {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as never
}

/** The member of a request that names it, where it has one. */
export function keyOf(idempotencyKey: string | undefined): { idempotencyKey?: string } {
  return idempotencyKey === undefined ? {} : { idempotencyKey }
}

export function noSuchRun(): ProblemError {
  return new ProblemError(404, 'There is no such run.', {
    errors: [{ in: 'path', member: 'runId', detail: 'must be the id of a run' }],
  })
}

/** What the schema cannot say: which members of a scope go together. */
function checkedScope(scope: object | undefined): Scope {
  try {
    return parseScope(scope)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const [, detail = error.message] = /^scope: (.*)$/s.exec(error.message) ?? []
    const [member = ''] = /^\w+/.exec(detail) ?? []
    throw new ProblemError(400, error.message, {
      errors: [{ in: 'body', member: `scope.${member}`, detail }],
    })
  }
}
