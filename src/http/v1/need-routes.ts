import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import * as z from 'zod'
import { answers, operation, pageSchema, sendPage } from './operation.ts'
import type { V1Options } from './operation.ts'
import { pageOf, text } from './request-schemas.ts'
import { present } from './run-routes.ts'
import { FailureSchema, HeldListingSchema, RejectedRecordSchema } from './schemas.ts'

/** What failed, was rejected or is held; a Fastify plugin. */
export async function needRoutes(plain: FastifyInstance, { collabSync }: V1Options): Promise<void> {
  const app = plain.withTypeProvider<ZodTypeProvider>()
  const runId = z.guid().optional().describe('Only of this run.')
  app.get(
    '/failures',
    {
      config: { right: 'read' },
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
      config: { right: 'read' },
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
  app.get(
    '/held',
    {
      config: { right: 'read' },
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
}
