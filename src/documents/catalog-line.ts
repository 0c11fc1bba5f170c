import * as z from 'zod'
import { printable } from '../base/printable.ts'
import { JobRequestedBySchema } from './action.ts'
import { id } from './check.ts'
import { PageRequestSchema } from './page.ts'
import { ScopeIdsSchema } from './scope.ts'
import type { Scope } from './scope.ts'

/** A name for people: it is never sent to the service. */
const name = z
  .string('must be a text')
  .max(300, 'must not be longer than 300 characters')
  .refine(
    (text) => printable(text) === text && text.isWellFormed(),
    'must be one line of printable characters',
  )
  .nullish()

/** One thing to sync, in the words of `contract.md` ("Catalog lines"). Null counts as absent. */
export const CatalogLineSchema = z
  .strictObject({
    organizationId: id,
    documentId: id.nullish(),
    annotationId: id.nullish(),
    organizationUserGroupId: id.nullish(),
    organizationName: name.describe('For people. An absent name stays, an empty one is removed.'),
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
  .meta({ id: 'CatalogLine', description: 'One thing to sync: what its last id names.' })

/** An organization, or a document, an annotation or a user group in it. It implies its parents. */
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

/** Asks that what the catalog lacks of what is named be added, rather than refused. */
export const AddSchema = z
  .boolean('must be true or false')
  .describe('Adds what the catalog lacks, rather than refuse it.')

/** What is asked to be added to the catalog. */
export const NewLinesSchema = z
  .strictObject({
    lines: LinesSchema,
    add: AddSchema.optional().describe(
      'Adds also the parents that the catalog lacks; without it such a line is refused.',
    ),
  })
  .meta({ id: 'NewCatalogLines' })

/** What is asked to be removed from the catalog. */
export const OldLinesSchema = z.strictObject({ lines: LinesSchema })

/** The data of a `catalog` job. */
export const CatalogJobSchema = z.discriminatedUnion('change', [
  NewLinesSchema.extend({ change: z.literal('add'), requestedBy: JobRequestedBySchema }),
  OldLinesSchema.extend({ change: z.literal('remove'), requestedBy: JobRequestedBySchema }),
])

const CatalogCountsSchema = z.object({
  added: z.number(),
  reactivated: z.number(),
  deactivated: z.number(),
  renamed: z.number().describe('Those that were there before and whose name changed.'),
})

/** What a change did to the rows of each kind; what was as it was asked for is in none of the counts. */
export const CatalogChangesSchema = z
  .object({
    organizations: CatalogCountsSchema,
    documents: CatalogCountsSchema,
    annotations: CatalogCountsSchema,
    userGroups: CatalogCountsSchema,
  })
  .meta({ id: 'CatalogChanges' })

export type CatalogChanges = z.output<typeof CatalogChangesSchema>

/** A line as the catalog holds it. */
export const CatalogEntrySchema = ScopeIdsSchema.extend({
  organizationId: z.string(),
  organizationName: z.string().nullable(),
  documentName: z.string().nullable(),
  organizationUserGroupName: z.string().nullable(),
  active: z.boolean().describe('False where it is not asked for any more.'),
  checkedAt: z.date().nullable().describe('When its last good check began.'),
}).meta({ id: 'CatalogEntry' })

export type CatalogEntry = z.output<typeof CatalogEntrySchema>

/** What is directly beneath a document, else beneath an organization, else all organizations. */
export const CatalogRequestSchema = PageRequestSchema.extend({
  organizationId: id.optional().describe('Its user groups and documents.'),
  documentId: id.optional().describe('Its annotations. Needs organizationId.'),
})

/** The lines that name what a run is narrowed to; none where it is not narrowed to anything that the catalog holds. */
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
