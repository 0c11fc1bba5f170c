import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import * as z from 'zod'
import { RUN_STATUSES } from '../../database/run-reports.ts'
import { UsageError } from '../../errors.ts'
import { parseScope } from '../../documents/scope.ts'
import type { Scope } from '../../documents/scope.ts'
import { ProblemError } from '../problem.ts'
import { answers, atMost, operation, pageSchema, sendPage } from './operation.ts'
import type { V1Options } from './operation.ts'
import { IdempotencySchema, NewRunSchema, pageOf, RunIdSchema } from './request-schemas.ts'
import { AcceptedRunSchema, RunDetailsSchema, RunSchema } from './schemas.ts'

/** Runs asked for in a second, all callers together; each is a transaction and some jobs. */
const RUNS_A_SECOND = { max: 50, timeWindow: 1000 } as const
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

/** What can be done about a run; a Fastify plugin. */
export async function runActionRoutes(
  plain: FastifyInstance,
  { collabSync }: V1Options,
): Promise<void> {
  const app = plain.withTypeProvider<ZodTypeProvider>()
  const existing = async (runId: string) => {
    const run = await collabSync.getRun(runId)
    if (run === null) throw noSuchRun()
    return run
  }
  app.post(
    '/runs/:runId/cancel',
    {
      config: { right: 'operate' },
      schema: {
        ...operation({
          id: 'cancelRun',
          tag: 'Runs',
          summary: 'End a run early',
          description: 'What is stored stays; what was not asked is skipped.',
        }),
        params: RunIdSchema,
        response: answers(202, RunDetailsSchema, {
          description: 'It is noted; the run ends within seconds.',
          problems: [404, 409, 413, 415],
        }),
      },
    },
    async (request, reply) => {
      const { runId } = request.params
      await existing(runId)
      await collabSync.cancelRun(runId).catch(refused(409))
      return reply.code(202).send(await existing(runId))
    },
  )
  app.post(
    '/runs/:runId/retry',
    {
      config: { right: 'operate', rateLimit: RUNS_A_SECOND },
      schema: {
        ...operation({
          id: 'retryRun',
          tag: 'Runs',
          summary: 'Ask for a run of just what failed in another',
        }),
        params: RunIdSchema,
        headers: IdempotencySchema,
        response: answers(202, AcceptedRunSchema, {
          description: 'The run is asked for; `Location` says where to follow it.',
          problems: [404, 409, 413, 415, 422],
        }),
      },
    },
    async (request, reply) => {
      const { runId } = request.params
      const { finishedAt, scopesFailed } = await existing(runId)
      // Where something failed, only the key can be wrong: it was used for something else.
      const started = await collabSync
        .retryRun(runId, keyOf(request.headers['idempotency-key']))
        .catch(refused(finishedAt !== null && scopesFailed > 0 ? 422 : 409))
      return reply.code(202).header('location', `/v1/runs/${started.runId}`).send(started)
    },
  )
}

function refused(status: 409 | 422): (error: unknown) => never {
  return (error) => {
    throw error instanceof UsageError ? new ProblemError(status, error.message) : error
  }
}
