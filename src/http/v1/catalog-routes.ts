import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import * as z from 'zod'
import { CatalogChangesSchema, NewLinesSchema } from '../../documents/catalog-line.ts'
import { id } from '../../documents/check.ts'
import { operation, refused } from './operation.ts'
import type { V1Options } from './operation.ts'

const OrganizationPath = z.strictObject({ organizationId: id })
const DocumentPath = OrganizationPath.extend({ documentId: id })

/** What `DELETE` can name, from the organization on. */
const LINES = [
  ['Organization', '', OrganizationPath],
  ['Document', '/documents/:documentId', DocumentPath],
  [
    'Annotation',
    '/documents/:documentId/annotations/:annotationId',
    DocumentPath.extend({ annotationId: id }),
  ],
  [
    'UserGroup',
    '/user-groups/:organizationUserGroupId',
    OrganizationPath.extend({ organizationUserGroupId: id }),
  ],
] as const

/** Adding to the catalog and removing from it; a Fastify plugin. */
export async function catalogRoutes(
  plain: FastifyInstance,
  { collabSync }: V1Options,
): Promise<void> {
  const app = plain.withTypeProvider<ZodTypeProvider>()
  app.post(
    '/catalog',
    operation('operate', {
      id: 'addToCatalog',
      tag: 'Catalog',
      summary: 'Add lines to the catalog, all or none',
      description: 'Again is harmless. Runs that begin from now on ask for them.',
      body: NewLinesSchema,
      answer: CatalogChangesSchema,
      answered: 'What was added.',
      problems: [413, 415, 422],
    }),
    async ({ by, body }, reply) =>
      reply.send(await collabSync.as(by).addToCatalog(body).catch(refused(422))),
  )
  for (const [name, path, params] of LINES)
    app.delete(
      `/catalog/organizations/:organizationId${path}`,
      operation('operate', {
        id: `remove${name}`,
        tag: 'Catalog',
        summary: 'Remove a line, and what is beneath it, from the catalog',
        description: 'It is not asked for any more; its rows stay. Again is harmless.',
        params,
        answer: CatalogChangesSchema,
        answered: 'What became inactive.',
        problems: [404, 413, 415],
      }),
      async (request, reply) =>
        reply.send(
          await collabSync
            .as(request.by)
            .removeFromCatalog({ lines: [request.params] })
            .catch(refused(404)),
        ),
    )
}
