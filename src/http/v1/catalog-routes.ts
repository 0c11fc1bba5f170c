import * as z from 'zod'
import { CatalogChangesSchema, NewLinesSchema } from '../../schemas/catalog-line.ts'
import { id } from '../../schemas/check.ts'
import { operation, operationId, refused } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

export const OrganizationPath = z.strictObject({ organizationId: id })
const DocumentPath = OrganizationPath.extend({ documentId: id })
export const AnnotationPath = DocumentPath.extend({ annotationId: id })

/** The kinds of catalog entries, with the path and the schema of their IDs. */
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

/** Adds to the catalog, and removes from it. */
export function catalogRoutes(app: V1App, { collabSync }: V1Options): void {
  const addToCatalog = operation('operate', 'addToCatalog', {
    summary: 'Add entries to the catalog, all or none',
    description: 'Later runs fetch them. Adding an entry twice changes nothing.',
    body: NewLinesSchema,
    response: CatalogChangesSchema,
    problems: [422],
  })
  app.post('/catalog', addToCatalog, async ({ by, body }) =>
    collabSync.as(by).addToCatalog(body).catch(refused(422)),
  )

  for (const [kind, path, params] of LISTED) {
    const remove = operation('operate', operationId('remove', kind), {
      summary: 'Remove an entry, and the entries beneath it, from the catalog',
      description:
        'Later runs do not fetch it. Its rows stay. Removing an entry twice changes nothing.',
      params,
      response: CatalogChangesSchema,
      problems: [404],
    })
    app.delete(`/catalog${path}`, remove, async ({ by, params: line }) =>
      collabSync
        .as(by)
        .removeFromCatalog({ lines: [line] })
        .catch(refused(404)),
    )
  }
}
