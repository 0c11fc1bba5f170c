import * as z from 'zod'
import { id } from './check.ts'

/** One thing to sync, in the words of `contract.md` ("Catalog lines"). Null counts as absent. */
export const CatalogLineSchema = z
  .strictObject({
    organizationId: id,
    documentId: id.nullish(),
    annotationId: id.nullish(),
    organizationUserGroupId: id.nullish(),
  })
  .superRefine(({ documentId, annotationId, organizationUserGroupId: groupId }, context) => {
    const fault = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    if (annotationId != null && documentId == null) fault('annotationId', 'needs documentId')
    if (groupId != null && documentId != null)
      fault(
        'organizationUserGroupId',
        'cannot be combined with documentId: a user group belongs to an organization',
      )
  })

/** An organization, or a document, an annotation or a user group in it. It implies its parents. */
export type CatalogLine = z.output<typeof CatalogLineSchema>

export const CATALOG_MEMBERS = CatalogLineSchema.keyof().options
