import * as z from 'zod'
import { printable } from '../base/printable.ts'
import { JobRequestedBySchema } from './action.ts'
import { id } from './check.ts'
import { PageRequestSchema } from './page.ts'
import { ScopeIdsSchema } from './scope.ts'
import type { Scope } from './scope.ts'

/** A display name, never sent to the service. */
const name = z
  .string('must be a text')
  .max(300, 'must not be longer than 300 characters')
  .refine(
    (text) => printable(text) === text && text.isWellFormed(),
    'must be one line of printable characters',
  )
  .nullish()

/** One line of a catalog (README.md, The catalog). Null counts as absent. */
export const CatalogLineSchema = z
  .strictObject({
    organizationId: id,
    documentId: id.nullish(),
    annotationId: id.nullish(),
    organizationUserGroupId: id.nullish(),
    organizationName: name.describe(
      'A display name. An absent name is unchanged, an empty one is removed.',
    ),
    documentName: name.describe('As organizationName. Needs documentId.'),
    organizationUserGroupName: name.describe('As organizationName. Needs organizationUserGroupId.'),
  })
  .superRefine((line, context) => {
    const { documentId, annotationId, organizationUserGroupId: groupId } = line
    const fault = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    if (annotationId != null && documentId == null) fault('annotationId', 'needs documentId')
    if (line.documentName != null && documentId == null) fault('documentName', 'needs documentId')
    if (line.organizationUserGroupName != null && groupId == null)
      fault('organizationUserGroupName', 'needs organizationUserGroupId')
    if (groupId != null && documentId != null)
      fault(
        'organizationUserGroupId',
        'cannot be combined with documentId: a user group belongs to an organization',
      )
  })
  .meta({
    id: 'CatalogLine',
    description:
      'An organization, document, annotation or user group to sync: the one that its last ID names.',
  })

export type CatalogLine = z.output<typeof CatalogLineSchema>

export const CATALOG_MEMBERS = CatalogLineSchema.keyof().options
export const CATALOG_IDS = CATALOG_MEMBERS.filter((member) => member.endsWith('Id'))
export const CATALOG_NAMES = [
  'organizationName',
  'documentName',
  'organizationUserGroupName',
] as const

const LINES_FAULT = 'must be a list of 1 to 1000 lines'

const LinesSchema = z
  .array(CatalogLineSchema, LINES_FAULT)
  .min(1, LINES_FAULT)
  .max(1000, LINES_FAULT)

export const AddSchema = z
  .boolean('must be true or false')
  .describe('Adds scopes that the catalog lacks. Without it, they are refused.')

export const NewLinesSchema = z
  .strictObject({
    lines: LinesSchema,
    add: AddSchema.optional().describe(
      'Also adds parents that the catalog lacks. Without it, such a line is refused.',
    ),
  })
  .meta({ id: 'NewCatalogLines' })

export const OldLinesSchema = z.strictObject({ lines: LinesSchema })

export const CatalogJobSchema = z.discriminatedUnion('change', [
  NewLinesSchema.extend({ change: z.literal('add'), requestedBy: JobRequestedBySchema }),
  OldLinesSchema.extend({ change: z.literal('remove'), requestedBy: JobRequestedBySchema }),
])

const CatalogCountsSchema = z.object({
  added: z.number(),
  reactivated: z.number(),
  deactivated: z.number(),
  renamed: z.number().describe('Existing ones with a changed name.'),
})

/** Changed rows by kind. */
export const CatalogChangesSchema = z
  .object({
    organizations: CatalogCountsSchema,
    documents: CatalogCountsSchema,
    annotations: CatalogCountsSchema,
    userGroups: CatalogCountsSchema,
  })
  .meta({ id: 'CatalogChanges' })

export type CatalogChanges = z.output<typeof CatalogChangesSchema>

export const CatalogEntrySchema = ScopeIdsSchema.extend({
  organizationId: z.string(),
  organizationName: z.string().nullable(),
  documentName: z.string().nullable(),
  organizationUserGroupName: z.string().nullable(),
  active: z.boolean().describe('False if it is not fetched any more.'),
  checkedAt: z.date().nullable().describe('When its last successful check began.'),
}).meta({ id: 'CatalogEntry' })

export type CatalogEntry = z.output<typeof CatalogEntrySchema>

export const CatalogRequestSchema = PageRequestSchema.extend({
  organizationId: id.optional().describe('Lists its user groups and documents.'),
  documentId: id.optional().describe('Lists its annotations. Needs organizationId.'),
})

/** The catalog lines of a scope; none for the whole catalog. */
export function linesOf(scope: Scope): CatalogLine[] {
  const { documentId, annotationId, organizationUserGroupIds = [] } = scope
  return (scope.organizationIds ?? []).flatMap((organizationId): CatalogLine[] =>
    organizationUserGroupIds.length === 0
      ? [{ organizationId, documentId, annotationId }]
      : organizationUserGroupIds.map((groupId) => ({
          organizationId,
          organizationUserGroupId: groupId,
        })),
  )
}
