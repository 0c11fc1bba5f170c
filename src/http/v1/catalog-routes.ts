import * as z from 'zod'
import { CatalogChangesSchema, NewLinesSchema } from '../../documents/catalog-line.ts'
import { id } from '../../documents/check.ts'
import { operation, operationId, refused } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

export const OrganizationPath = z.strictObject({ organizationId: id })
const DocumentPath = OrganizationPath.extend({ documentId: id })
export const AnnotationPath = DocumentPath.extend({ annotationId: id })

/** What the catalog lists, with the path and the schema of its ids. */
export const LISTED = [
  ['organization', '/organizations/:organizationId', OrganizationPath],
  ['document', '/organizations/:organizationId/documents/:documentId', DocumentPath],
  [
    'annotation',
    '/organizations/:organizationId/documents/:documentId/annotations/:annotationId',
    AnnotationPath,
  ],
  [
    'userGroup',
    '/organizations/:organizationId/user-groups/:organizationUserGroupId',
    OrganizationPath.extend({ organizationUserGroupId: id }),
  ],
] as const

/** Adding to the catalog and removing from it. */
export function catalogRoutes(app: V1App, { collabSync }: V1Options): void {
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
      problems: [422],
    }),
    async ({ by, body }, reply) =>
      reply.send(await collabSync.as(by).addToCatalog(body).catch(refused(422))),
  )
  for (const [kind, path, params] of LISTED)
    app.delete(
      `/catalog${path}`,
      operation('operate', {
        id: operationId('remove', kind),
        tag: 'Catalog',
        summary: 'Remove a line, and what is beneath it, from the catalog',
        description: 'It is not asked for any more; its rows stay. Again is harmless.',
        params,
        answer: CatalogChangesSchema,
        answered: 'What became inactive.',
        problems: [404],
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
