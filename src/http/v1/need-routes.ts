import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { UsageError } from '../../errors.ts'
import * as z from 'zod'
import { ProblemError } from '../problem.ts'
import { sendPage } from './listing.ts'
import { answers, operation, pageSchema } from './operation.ts'
import { AcceptHeldSchema, HeldIdSchema, ReplaySchema, pageOf, text } from './request-schemas.ts'
import { present } from './run-routes.ts'
import {
  AcceptedHeldSchema,
  FailureSchema,
  HeldListingSchema,
  RejectedRecordSchema,
  ReplayedSchema,
} from './schemas.ts'
import type { V1Options } from './v1.ts'

/** What failed, was rejected or is held, and what a person can do about it; a Fastify plugin. */
export async function needRoutes(plain: FastifyInstance, { collabSync }: V1Options): Promise<void> {
  const app = plain.withTypeProvider<ZodTypeProvider>()
  const runId = z.guid().optional().describe('Only of this run.')
  app.get(
    '/failures',
    {
      schema: {
        ...operation({
          id: 'listFailures',
          tag: 'What needs a person',
          summary: 'Scopes that gave no usable answer, the newest first',
        }),
        querystring: pageOf({ runId, organizationId: text.optional() }),
        response: answers(200, pageSchema(FailureSchema), { description: 'A page of failures.' }),
      },
    },
    async (request, reply) =>
      sendPage(request, reply, request.query, () =>
        collabSync.listFailures(present(request.query)),
      ),
  )
  app.get(
    '/rejected-records',
    {
      schema: {
        ...operation({
          id: 'listRejectedRecords',
          tag: 'What needs a person',
          summary: 'Records that could not be stored, the newest first',
        }),
        querystring: pageOf({ runId }),
        response: answers(200, pageSchema(RejectedRecordSchema), {
          description: 'A page of rejected records.',
        }),
      },
    },
    async (request, reply) =>
      sendPage(request, reply, request.query, () =>
        collabSync.listRejectedRecords(present(request.query)),
      ),
  )
  app.post(
    '/rejected-records/replay',
    {
      config: { takesLong: true },
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
  app.get(
    '/held',
    {
      schema: {
        ...operation({
          id: 'listHeld',
          tag: 'What needs a person',
          summary: 'Listings that wait for a person',
        }),
        querystring: pageOf({ runId }),
        response: answers(200, pageSchema(HeldListingSchema), {
          description: 'A page of held listings.',
        }),
      },
    },
    async (request, reply) =>
      sendPage(request, reply, request.query, () => collabSync.listHeld(present(request.query))),
  )
  app.post(
    '/held/:heldId/accept',
    {
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
        .catch((error: unknown) => {
          throw error instanceof UsageError ? new ProblemError(409, error.message) : error
        })
      return reply.send(accepted)
    },
  )
}
