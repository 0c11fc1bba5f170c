import * as z from 'zod'
import { columnOf } from '../base/columns.ts'
import type { Database } from '../core/database/pool.ts'
import type { RowOf } from '../core/database/statement.ts'
import * as held from '../core/database/statements/held.ts'
import * as organizations from '../core/database/statements/organizations.ts'
import * as things from '../core/database/statements/things.ts'
import { checked } from '../schemas/check.ts'
import { describeRemoval, time } from '../schemas/format.ts'
import {
  idsWithin,
  kindOf,
  parentOf,
  THING_KINDS,
  THING_SCHEMAS,
  ThingRequestSchema,
} from '../schemas/thing.ts'
import type { Thing, ThingAction, ThingIds, ThingKind, ThingRequest } from '../schemas/thing.ts'
import { describeCatalogChange, lifeEntry, versionEntry } from './life.ts'
import { readPage } from './listings.ts'
import type { Parts } from './parts.ts'
import { readSchedule } from './schedule.ts'

type Scope = RowOf<typeof things.scope>
type ThingParts = Pick<Parts, 'database' | 'settings'>

const LIMIT_DEFAULT = 20

/** Reads what is stored about a thing; null if nothing is. @throws UsageError for IDs that name no thing */
export async function getThing(parts: ThingParts, given: ThingRequest): Promise<Thing | null> {
  const { database } = parts
  const request = checked(ThingRequestSchema, given)
  const kind = kindOf(request)
  if (kind === null) throw new Error('The schema refuses these ids.')
  // A user is checked by the listing of users alone.
  const operation = kind === 'user' ? 'users' : null
  const scope = await things.scope.first(database, { ...scopeIdsOf(request), operation })
  if (scope === undefined) return null
  const requested = { kind, scope, request }
  const described = await describeThing(database, requested)
  if (described === null) return null
  const { checkedAt: at, failingSince } = scope
  // Removes the other columns of the rows.
  return THING_SCHEMAS[kind].parse({
    ...described,
    ids: request,
    above: aboveOf(request, scope),
    checked: {
      ...scope,
      at,
      sentence: describeCheck(scope),
      failing: failingSince && `Every fetch since ${time(failingSince)} has failed.`,
      next: await describeNext(parts, scope),
    },
    life: await (kind === 'comment' ? readVersions : readLife)(database, requested),
    beneath: await readBeneath(database, requested),
    actions: actionsOf(described, scope),
    isErasing: scope.isErasing,
  })
}

interface ThingQuery {
  readonly kind: ThingKind
  /** The fetched scope: the annotation of a comment, the organization of a user, otherwise the thing itself. */
  readonly scope: Scope
  readonly request: z.output<typeof ThingRequestSchema>
}

function scopeIdsOf(ids: ThingIds) {
  return {
    organizationId: ids.organizationId,
    documentId: ids.documentId ?? null,
    annotationId: ids.annotationId ?? null,
    userGroupId: ids.organizationUserGroupId ?? null,
  }
}

/** The members that differ between kinds. */
type Described = Thing extends infer T
  ? T extends Thing
    ? Omit<T, 'ids' | 'above' | 'checked' | 'life' | 'beneath' | 'actions' | 'isErasing'>
    : never
  : never

async function describeThing(
  database: Database,
  { kind, scope, request }: ThingQuery,
): Promise<Described | null> {
  const { organizationId, documentId = '', annotationId = '', commentId = 0, userId = '' } = request
  if (kind === 'comment') {
    const named = { commentId, organizationId, documentId, annotationId }
    const row = await things.comment.first(database, { ...named, annotationKey: scope.key })
    if (row === undefined) return null
    const { raw: record, ...facts } = row
    return { kind, facts, record, name: null, why: whyComment(row, scope), removal: null }
  }
  if (kind === 'user') {
    const row = await things.user.first(database, { organizationId, userId })
    if (row === undefined) return null
    const { raw: record, ...facts } = row
    const removal =
      (row.removalHeldSince ?? row.removalRefusedAt) && (await readRemoval(database, scope))
    const why = whyUser(row, scope, removal)
    const of = { organizationKey: scope.organizationKey, userId }
    const last = await things.lastComments.all(database, of)
    const lastComments = last.map(({ text, writtenAt, ...ids }) => {
      return { ids: { organizationId, ...ids }, text, writtenAt }
    })
    return { kind, facts, record, name: row.name, why, removal, lastComments }
  }
  const why = await whyInCatalog(database, kind, scope)
  const same = { name: scope.name, record: null, why, removal: await readRemoval(database, scope) }
  if (kind !== 'organization') return { kind, facts: scope, ...same } as Described
  const one = { after: null, limit: 1, organizationId }
  return {
    kind,
    facts: { ...(await organizations.page.one(database, one)), users: scope.users },
    ...same,
  }
}

/** The things that contain a thing, the organization first. */
function aboveOf(ids: ThingIds, names: Scope): Thing['above'] {
  const parent = parentOf(ids)
  if (parent === null) return []
  const { documentId, annotationId } = parent
  const name = documentId === undefined ? names.organizationName : names.documentName
  return [
    ...aboveOf(parent, names),
    { ids: parent, name: annotationId === undefined ? name : null },
  ]
}

type Why = Thing['why']

async function readRemoval(database: Database, { heldId }: Scope): Promise<Thing['removal']> {
  if (heldId === null) return null
  const any = { runId: null, organizationId: null, isRefused: null, after: null }
  const [listing] = await held.list.all(database, { ...any, heldId, limit: 1, mostUsers: 0 })
  if (listing === undefined) return null
  const stays = listing.decidedAt === null ? '' : ' They are kept until the response changes.'
  return { ...listing, sentence: describeRemoval(listing) + stays }
}

function whyComment(row: RowOf<typeof things.comment>, scope: Scope): Why {
  if (row.deletedAt !== null)
    return {
      state: 'gone',
      sentence: `The service returned null for its ID. The fetch that noticed it began at ${time(row.deletedAt)}.`,
      at: row.deletedAt,
      runId: row.deletedRunId,
    }
  const sentence = 'The last good response for its annotation contained it.'
  const seen = { at: scope.checkedAt, runId: scope.runId }
  if (scope.inCatalog) return { state: 'here', sentence, ...seen }
  const more = ' Its annotation is not in the catalog, so it is not fetched any more.'
  return { state: 'not_in_catalog', sentence: sentence + more, ...seen }
}

function whyUser(row: RowOf<typeof things.user>, scope: Scope, removal: Thing['removal']): Why {
  const { erasureId, erasedAt, removedAt } = row
  if (erasureId !== null && erasedAt !== null)
    return {
      state: 'erased',
      sentence: `The user was erased at ${time(erasedAt)}, by erasure ${erasureId}: this pseudonym stands for the ID.`,
      at: erasedAt,
      runId: null,
    }
  if (row.listed) {
    const without = 'The last response for the organization’s listing did not contain the user.'
    if (removal === null)
      return {
        state: 'here',
        sentence: 'The last good response for the organization’s listing contained the user.',
        at: scope.checkedAt,
        runId: scope.runId,
      }
    const at = row.removalHeldSince ?? row.removalRefusedAt
    return { state: 'here', sentence: `${without} ${removal.sentence}`, at, runId: removal.runId }
  }
  if (removedAt === null)
    return {
      state: 'never_listed',
      sentence:
        'The organization’s listing never contained the user, who is known as an author, or from a document or user group.',
      at: row.firstSeenAt,
      runId: null,
    }
  return {
    state: 'gone',
    sentence: `The organization’s listing no longer contained the user. The fetch that noticed it began at ${time(removedAt)}.`,
    at: removedAt,
    runId: row.leftRunId,
    ...acceptedRemoval(row, removedAt),
  }
}

/** If the removal was held before: who decided, instead of the run that noticed it. */
function acceptedRemoval(row: RowOf<typeof things.user>, at: Date): Partial<Why> {
  const { resolution, decidedBy, reason } = row
  if (resolution === null) return {}
  const why = reason === null ? '' : `: ${reason}`
  const sentence =
    resolution === 'repeated'
      ? `The organization’s listing no longer contained the user in HELD_ACCEPT_AFTER nightly runs. The removal was applied at ${time(at)}.`
      : `The organization’s listing no longer contained the user. ${decidedBy} accepted the removal at ${time(at)}${why}.`
  return { sentence, runId: null }
}

async function whyInCatalog(database: Database, kind: ThingKind, scope: Scope): Promise<Why> {
  const event = await things.catalogEvent.first(database, {
    object: columnOf(kind),
    key: scope.key,
  })
  const how =
    event === undefined
      ? 'How it came into the catalog, or left it, is no longer kept.'
      : `${describeCatalogChange({ ...event, by: event.requestedBy })} That was at ${time(event.at)}.`
  const noticed = { at: event?.at ?? null, runId: null }
  if (scope.inCatalog) return { state: 'here', sentence: how, ...noticed }
  const why = scope.active
    ? 'Its parent is not in the catalog, so it is not fetched.'
    : 'It is not fetched any more; its rows stay.'
  return { state: 'not_in_catalog', sentence: `${how} ${why}`, ...noticed }
}

function describeCheck({ checkedAt, runId }: Scope): string {
  if (checkedAt === null) return 'It has never been fetched successfully.'
  const by = runId === null ? ', by continuous refresh or by a run that is no longer kept' : ''
  return `The last good fetch began at ${time(checkedAt)}${by}.`
}

async function describeNext({ database, settings }: ThingParts, scope: Scope): Promise<string> {
  if (!scope.inCatalog) return 'Never: it is not in the catalog.'
  if (scope.isLeftOut)
    return 'Only by a run that selects its operation: SYNC_OPERATIONS leaves it out.'
  const { next } = await readSchedule({ database, settings })
  const isRefreshed = settings.refreshBudget !== undefined
  if (next === null)
    return isRefreshed
      ? 'By continuous refresh.'
      : 'When a run is requested: no nightly run is scheduled.'
  return `By the nightly run that is due at ${time(next)}${isRefreshed ? ', or before it by continuous refresh' : ''}.`
}

function actionsOf(
  { kind, facts }: Described,
  { inCatalog, active, failingSince }: Scope,
): ThingAction[] {
  const isFailing = failingSince !== null || ('failing' in facts && facts.failing > 0)
  const isThread = kind === 'annotation' || kind === 'comment'
  if (!inCatalog) return active || kind === 'comment' || kind === 'user' ? [] : ['add']
  return [
    'sync',
    ...(isFailing && kind !== 'user' ? ['retry' as const] : []),
    ...(isThread || kind === 'document' ? ['hint' as const] : []),
    ...(kind === 'comment' || kind === 'user' ? [] : ['remove' as const]),
  ]
}

/** A time or rank, and an ID. */
const EntryKey = z.tuple([z.int(), z.string()])

function readLife(database: Database, { kind, scope, request }: ThingQuery) {
  const { organizationId, userId = null, lifeCursor: cursor, limit = LIMIT_DEFAULT } = request
  const of = { ...scopeIdsOf(request), object: columnOf(kind), key: scope.key, userId }
  return readPage(
    { limit, cursor },
    {
      name: 'life',
      member: 'lifeCursor',
      key: EntryKey,
      read: (after, max) => {
        const [beforeUs, beforeId] = after ?? [null, null]
        return things.life.all(database, { ...of, beforeUs, beforeId, limit: max })
      },
      keyOf: ({ atUs, id }) => [atUs, id],
      itemOf: (row) => lifeEntry(row, organizationId, userId !== null),
    },
  )
}

function readVersions(database: Database, { scope, request }: ThingQuery) {
  const { commentId = 0, lifeCursor: cursor, limit = LIMIT_DEFAULT } = request
  return readPage(
    { limit, cursor },
    {
      name: 'versions',
      member: 'lifeCursor',
      key: z.int(),
      read: (beforeVersion, max) =>
        things.lifeOfComment.all(database, {
          annotationKey: scope.key,
          commentId,
          beforeVersion,
          limit: max,
        }),
      keyOf: ({ version }) => version,
      itemOf: versionEntry,
    },
  )
}

const KindSchema = z.enum(THING_KINDS)

function readBeneath(database: Database, { kind, scope, request }: ThingQuery) {
  const { beneathCursor: cursor, limit = LIMIT_DEFAULT } = request
  const keyIf = (of: ThingKind) => (kind === of ? scope.key : null)
  return readPage(
    { limit, cursor },
    {
      name: 'beneath',
      member: 'beneathCursor',
      key: EntryKey,
      read: (after, max) => {
        const [afterPlace, afterId] = after ?? [null, null]
        return things.beneath.all(database, {
          ...scopeIdsOf(request),
          userId: request.userId ?? null,
          organizationKey: keyIf('organization'),
          documentKey: keyIf('document'),
          annotationKey: keyIf('annotation'),
          afterPlace,
          afterId,
          limit: max,
        })
      },
      keyOf: ({ place, id }) => [place, id],
      itemOf: (row) => ({ ...row, ids: idsWithin(request, KindSchema.parse(row.kind), row.id) }),
    },
  )
}
