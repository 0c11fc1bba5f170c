import * as z from 'zod'
import { id, RunIdSchema, text } from './check.ts'
import { PageRequestSchema, pageSchema } from './page.ts'
import { HeldListingSchema } from './waiting.ts'

/** Kinds of things, from the organization down. */
export const KIND_NAMES = {
  organization: 'Organization',
  userGroup: 'User group',
  document: 'Document',
  annotation: 'Annotation',
  comment: 'Comment',
  user: 'User',
} as const

export type ThingKind = keyof typeof KIND_NAMES

export const THING_KINDS = Object.keys(KIND_NAMES) as [ThingKind, ...ThingKind[]]

const idsShape = {
  organizationId: id,
  documentId: id.optional(),
  annotationId: id.optional().describe('Needs documentId.'),
  commentId: z.int('must be a whole number').optional().describe('Needs annotationId.'),
  organizationUserGroupId: id.optional(),
  userId: id.optional(),
}

/** The IDs of a thing by its kind. The last one is its own. */
const IDS_OF_KIND: Readonly<Record<ThingKind, readonly (keyof typeof idsShape)[]>> = {
  organization: ['organizationId'],
  userGroup: ['organizationId', 'organizationUserGroupId'],
  document: ['organizationId', 'documentId'],
  annotation: ['organizationId', 'documentId', 'annotationId'],
  comment: ['organizationId', 'documentId', 'annotationId', 'commentId'],
  user: ['organizationId', 'userId'],
}

const IdsSchema = z.object({ ...idsShape, organizationId: z.string() })

export type ThingIds = Readonly<z.output<typeof IdsSchema>>

export type SomeThingIds = { readonly [Name in keyof ThingIds]?: ThingIds[Name] | null | undefined }

/** The kind of thing that the IDs name; null for other combinations, such as an annotation without its document. */
export function kindOf(ids: ThingIds): ThingKind | null {
  const given = Object.keys(idsShape).filter((name) => ids[name as keyof ThingIds] !== undefined)
  const named = THING_KINDS.find((kind) => given.join() === [...IDS_OF_KIND[kind]].join())
  return named ?? null
}

/** The thing's own ID. */
export function ownId(kind: ThingKind, ids: ThingIds): string {
  return String(ids[IDS_OF_KIND[kind].at(-1) as keyof ThingIds])
}

/** The IDs of a thing in another one. @param id its own */
export function idsWithin(parent: ThingIds, kind: ThingKind, id: string): ThingIds {
  const names = IDS_OF_KIND[kind]
  const own = kind === 'comment' ? Number(id) : id
  const ids = names.map((name) => [name, name === names.at(-1) ? own : parent[name]])
  return IdsSchema.parse(Object.fromEntries(ids))
}

/** The thing that contains another one; null for an organization. */
export function parentOf(ids: ThingIds): ThingIds | null {
  const { organizationId, documentId, annotationId, commentId } = ids
  if (commentId !== undefined) return { organizationId, documentId, annotationId }
  if (annotationId !== undefined) return { organizationId, documentId }
  return kindOf(ids) === 'organization' ? null : { organizationId }
}

const { limit, cursor } = PageRequestSchema.shape

export const ThingPagesSchema = z.strictObject({
  limit: limit.describe('Maximum number of entries of life, and of beneath; 20 if omitted.'),
  lifeCursor: cursor.describe('The nextCursor of the previous page of life.'),
  beneathCursor: cursor.describe('The nextCursor of the previous page of beneath.'),
})

export const ThingRequestSchema = z
  .strictObject({ ...idsShape, ...ThingPagesSchema.shape })
  .refine((request) => kindOf(request) !== null, 'the ids do not name a thing')

export type ThingRequest = z.input<typeof ThingRequestSchema>

/** Some words of a text, compared with another version. */
export const WordsSchema = z.object({
  change: z.enum(['same', 'added', 'removed']),
  text: z.string(),
})

export type Words = z.output<typeof WordsSchema>

export const LIFE_EVENTS = [
  'version',
  'joined',
  'left',
  'held',
  'decided',
  'failed',
  'resolved',
  'rejected',
  'catalog',
  'erased',
] as const

const LifeEntrySchema = z
  .object({
    at: z.date().describe('When a check first noticed it, or when it happened (our clock).'),
    event: z.enum(LIFE_EVENTS),
    sentence: z.string().describe('What happened.'),
    runId: RunIdSchema.nullable().describe(
      'The run that noticed it; null if no run did, or it was pruned.',
    ),
    user: z
      .object({ userId: z.string(), name: z.string().nullable() })
      .nullable()
      .describe('The user who joined or left.'),
    place: IdsSchema.nullable().describe('What the user joined or left.'),
    diff: z
      .array(WordsSchema)
      .nullable()
      .describe(
        'The text of a version of a comment, compared by words with the previous version; both texts if they are long.',
      ),
  })
  .meta({ id: 'LifeEntry', description: 'An event of a thing.' })

export type LifeEntry = z.output<typeof LifeEntrySchema>

const time = z.date().nullable()

const BeneathSchema = z
  .object({
    kind: z.enum(THING_KINDS),
    ids: IdsSchema,
    name: z.string().nullable().describe('Its name, or the first words of a comment.'),
    state: z.enum([
      'good',
      'failing',
      'stale',
      'never_checked',
      'not_synced',
      'not_in_catalog',
      'deleted',
      'removal_held',
      'removal_refused',
    ]),
    comments: z
      .number()
      .nullable()
      .describe(
        'Live comments in it, of a user only their own; null if it cannot contain comments.',
      ),
    checkedAt: time.describe('Of a scope: when its last successful check began.'),
    since: time.describe(
      'Of a member: since when it is one. Null for a document that a user only commented in.',
    ),
    changedAt: time.describe('Of a comment: its last change.'),
  })
  .meta({ id: 'ThingBeneath', description: 'A thing in another thing.' })

export type Beneath = z.output<typeof BeneathSchema>

/** The facts of each kind. Descriptions are the labels in pages and in `show`. */
const FACTS = {
  organization: {
    active: z.boolean().describe('In the catalog'),
    users: z.number().describe('Stored users'),
    scopes: z.number().describe('Scopes'),
    annotations: z.number().describe('Annotations'),
    comments: z.number().describe('Live comments'),
    failing: z.number().describe('Failing scopes'),
    stale: z.number().describe('Stale scopes'),
    held: z.number().describe('Listings with a held removal'),
    refused: z.number().describe('Listings with a refused removal'),
  },
  userGroup: {
    active: z.boolean().describe('In the catalog'),
    users: z.number().describe('Stored users'),
  },
  document: {
    active: z.boolean().describe('In the catalog'),
    users: z.number().describe('Stored users'),
    annotations: z.number().describe('Annotations'),
    comments: z.number().describe('Live comments'),
    failing: z.number().describe('Failing annotations'),
  },
  annotation: {
    active: z.boolean().describe('In the catalog'),
    comments: z.number().describe('Live comments'),
    authors: z.array(z.string()).readonly().describe('Authors'),
    firstCommentAt: time.describe('First comment'),
    lastCommentAt: time.describe('Last comment'),
    firstAnswerAt: time.describe('First reply by another author'),
    changedAt: time.describe('Last change noticed'),
  },
  comment: {
    text: z.string().nullable().describe('Text'),
    authorUserId: z.string().nullable().describe('Author'),
    authorName: z.string().nullable().describe('Name of the author'),
    authorEmail: z.string().nullable().describe('E-mail of the author'),
    status: z.string().nullable().describe('Status'),
    type: z.string().nullable().describe('Type'),
    writtenAt: time.describe('Written (the service’s clock)'),
    lastUpdated: time.describe('Last updated (the service’s clock)'),
    firstSeenAt: z.date().describe('First seen'),
    changedAt: z.date().describe('Last change noticed'),
    deletedAt: time.describe('Deletion noticed'),
    version: z.number().describe('Version'),
  },
  user: {
    name: z.string().nullable().describe('Name'),
    email: z.string().nullable().describe('E-mail'),
    listed: z.boolean().describe('Stored as a user of the organization'),
    documents: z.number().describe('Member of documents'),
    userGroups: z.number().describe('Member of user groups'),
    comments: z.number().describe('Live comments'),
    deletedComments: z.number().describe('Deleted comments'),
    firstSeenAt: z.date().describe('First seen'),
    changedAt: z.date().describe('Last change noticed'),
    removedAt: time.describe('Left the organization'),
  },
} as const

export const THING_ACTIONS = ['sync', 'retry', 'hint', 'add', 'remove'] as const

export type ThingAction = (typeof THING_ACTIONS)[number]

const WrittenSchema = z.object({
  ids: IdsSchema,
  text: z.string().nullable().describe('Its first words.'),
  writtenAt: time,
})

export type Written = z.output<typeof WrittenSchema>

const common = {
  ids: IdsSchema,
  above: z
    .array(z.object({ ids: IdsSchema, name: z.string().nullable() }))
    .describe('The things that contain it, the organization first.'),
  name: z.string().nullable().describe('Its display name; null if unknown.'),
  why: z
    .object({
      state: z.enum(['here', 'gone', 'not_in_catalog', 'never_listed', 'erased']),
      sentence: z.string().describe('What was noticed, and when.'),
      at: time,
      runId: RunIdSchema.nullable(),
    })
    .describe('Why it exists, or was removed.'),
  removal: HeldListingSchema.omit({ firstMissingUserIds: true })
    .extend({ sentence: z.string() })
    .nullable()
    .describe('The held or refused removal of users from its listing, or of this user; else null.'),
  checked: z
    .object({
      at: time.describe('When the last successful check began; null if there was none.'),
      runId: RunIdSchema.nullable(),
      failingSince: time,
      failingRunId: RunIdSchema.nullable().describe('The last run that failed to fetch it.'),
      isStale: z.boolean(),
      sentence: z.string(),
      failing: z.string().nullable().describe('Since when every fetch fails; null if none does.'),
      next: z.string().describe('When it is checked next.'),
    })
    .describe('The last successful check and the next one.'),
  life: pageSchema(LifeEntrySchema).describe('Newest first.'),
  beneath: pageSchema(BeneathSchema).describe('Its contents; failing scopes first.'),
  record: z.unknown().describe('The stored record of a comment or user; null for other kinds.'),
  actions: z.array(z.enum(THING_ACTIONS)).describe('What a token with the right `operate` can do.'),
  isErasing: z.boolean().describe('True during an erasure: some texts may not be erased yet.'),
}

function thing<K extends ThingKind, Own extends z.ZodRawShape = {}>(kind: K, own?: Own) {
  return z
    .object({ kind: z.literal(kind), ...common, ...(own as Own), facts: z.object(FACTS[kind]) })
    .meta({ id: `${kind[0]?.toUpperCase()}${kind.slice(1)}Thing` })
}

export const THING_SCHEMAS = {
  organization: thing('organization'),
  userGroup: thing('userGroup'),
  document: thing('document'),
  annotation: thing('annotation'),
  comment: thing('comment'),
  user: thing('user', {
    lastComments: z.array(WrittenSchema).describe('The last ten live comments, newest first.'),
  }),
}

/** Everything that is stored about a thing. */
export type Thing = z.output<(typeof THING_SCHEMAS)[ThingKind]>

type FactValue = string | number | boolean | Date | readonly string[]

/** The facts of a thing that have a value. */
export function factsOf({ kind, facts }: Thing): [label: string, value: FactValue, name: string][] {
  const known: Readonly<Record<string, FactValue | null>> = facts
  const rows: [string, FactValue, string][] = []
  for (const [name, schema] of Object.entries<z.ZodType>(FACTS[kind])) {
    const value = known[name] ?? null
    const isEmpty = value === null || (Array.isArray(value) && value.length === 0)
    if (!isEmpty) rows.push([schema.description ?? name, value, name])
  }
  return rows
}

const SECONDS_FAULT = 'must be a whole number from 1 to 60'

export const SearchRequestSchema = z.strictObject({
  q: text
    .max(2000, 'must not be longer than 2000 characters')
    .describe(
      'An ID, at least three characters of an ID, name or address, `ANNOTATION/NUMBER`, or the number of a comment with at least four digits.',
    ),
  seconds: z
    .int(SECONDS_FAULT)
    .min(1, SECONDS_FAULT)
    .max(60, SECONDS_FAULT)
    .optional()
    .describe('Time limit of the search; 0.4 seconds if omitted.'),
})

const FoundSchema = z
  .object({
    kind: z.enum([...THING_KINDS, 'run']),
    ids: IdsSchema.nullable().describe('IDs of a thing; null for a run.'),
    runId: RunIdSchema.nullable(),
    name: z.string().nullable().describe('Its name, or another text that identifies it.'),
    isExact: z.boolean().describe('True if its complete ID, name or address matches.'),
  })
  .meta({ id: 'Found' })

export type Found = z.output<typeof FoundSchema>

export const SearchSchema = z
  .object({
    items: z.array(FoundSchema).describe('Exact matches first; at most 20 per kind.'),
    isComplete: z.boolean().describe('False if the time limit ended the search; see `seconds`.'),
    notes: z.array(z.string()).describe('Sentences about parts that were not searched completely.'),
  })
  .meta({ id: 'SearchResult' })

export type SearchResult = z.output<typeof SearchSchema>
