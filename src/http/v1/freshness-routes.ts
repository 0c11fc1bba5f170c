import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { answers, operation, pageSchema, sendPage } from './operation.ts'
import type { V1Options } from './operation.ts'
import { pageOf, text } from './request-schemas.ts'
import { present } from './run-routes.ts'
import { FreshnessSchema, OrganizationSchema } from './schemas.ts'

/** How old what is stored may be; a Fastify plugin. */
export async function freshnessRoutes(
  plain: FastifyInstance,
  { collabSync }: V1Options,
): Promise<void> {
  const app = plain.withTypeProvider<ZodTypeProvider>()
  app.get(
    '/freshness',
    {
      config: { right: 'read' },
      schema: {
        ...operation({
          id: 'getFreshness',
          tag: 'Freshness',
          summary: 'When everything in the catalog was last checked',
        }),
        response: answers(200, FreshnessSchema, { description: 'Over all organizations.' }),
      },
    },
    async (_request, reply) => reply.send(await collabSync.getFreshness()),
  )
  app.get(
    '/organizations',
    {
      config: { right: 'read' },
      schema: {
        ...operation({
          id: 'listOrganizations',
          tag: 'Freshness',
          summary: 'Organizations, with how fresh each one is',
        }),
        querystring: pageOf({
          search: text.optional().describe('Only those whose id holds this text.'),
        }),
        response: answers(200, pageSchema(OrganizationSchema), {
          description: 'A page of organizations.',
        }),
      },
    },
    async (request, reply) =>
      sendPage(request, reply, request.query, () =>
        collabSync.listOrganizations(present(request.query)),
      ),
  )
}
