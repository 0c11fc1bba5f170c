import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { UsageError } from '../../errors.ts'
import { ProblemError } from '../problem.ts'
import { answers, operation } from './operation.ts'
import type { V1Options } from './operation.ts'
import { AcceptHeldSchema, HeldIdSchema, ReplaySchema, SetAsideSchema } from './request-schemas.ts'
import { present } from './run-routes.ts'
import { AcceptedHeldSchema, ReplayedSchema, SetAsideDoneSchema } from './schemas.ts'

/** What a person can do about what was rejected or is held; a Fastify plugin. */
export async function settleRoutes(
  plain: FastifyInstance,
  { collabSync }: V1Options,
): Promise<void> {
  const app = plain.withTypeProvider<ZodTypeProvider>()
  app.post(
    '/rejected-records/replay',
    {
      config: { right: 'operate', takesLong: true },
      schema: {
        ...operation({
          id: 'replayRejectedRecords',
          tag: 'What needs a person',
          summary: 'Try again to store what was rejected',
          description: 'After an upgrade the program may be able to read it. Safe to repeat.',
        }),
        body: ReplaySchema,
        response: answers(200, ReplayedSchema, {
          description: 'What became of it.',
          problems: [413, 415],
        }),
      },
    },
    async (request, reply) =>
      reply.send(await collabSync.replayRejectedRecords(present(request.body))),
  )
  app.post(
    '/rejected-records/set-aside',
    {
      config: { right: 'operate' },
      schema: {
        ...operation({
          id: 'setAsideRejectedRecords',
          tag: 'What needs a person',
          summary: 'Set rejected records aside for good',
          description: 'By their content: the same in the same scope makes no later run partial.',
        }),
        body: SetAsideSchema,
        response: answers(200, SetAsideDoneSchema, {
          description: 'They are set aside.',
          problems: [409, 413, 415],
        }),
      },
    },
    async ({ body: { rejectedRecordIds: ids = [], runId, reason } }, reply) => {
      const choice = runId === undefined ? { ids } : { runId }
      const as = { by: 'http', reason }
      return reply.send(await collabSync.setAsideRejectedRecords(choice, as).catch(asConflict))
    },
  )
  app.post(
    '/held/:heldId/accept',
    {
      config: { right: 'operate' },
      schema: {
        ...operation({
          id: 'acceptHeld',
          tag: 'What needs a person',
          summary: 'Remove the users that a held listing lacks',
        }),
        params: HeldIdSchema,
        querystring: AcceptHeldSchema,
        response: answers(200, AcceptedHeldSchema, {
          description: 'They are removed.',
          problems: [409, 413, 415],
        }),
      },
    },
    async (request, reply) => {
      const accepted = await collabSync
        .acceptHeld(request.params.heldId, present(request.query))
        .catch(asConflict)
      return reply.send(accepted)
    },
  )
}

/** What a person cannot settle, since it is not there any more. */
function asConflict(error: unknown): never {
  throw error instanceof UsageError ? new ProblemError(409, error.message) : error
}
