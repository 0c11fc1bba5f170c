import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { UsageError } from '../../errors.ts'
import { ProblemError } from '../problem.ts'
import { answers, operation } from './operation.ts'
import { IdempotencySchema, RunIdSchema } from './request-schemas.ts'
import { RUNS_A_SECOND, keyOf, noSuchRun } from './run-routes.ts'
import { AcceptedRunSchema, RunDetailsSchema } from './schemas.ts'
import type { V1Options } from './options.ts'

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
