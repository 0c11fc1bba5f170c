import * as z from 'zod'
import { readChanges, readHeldBack } from '../features/export/changes.ts'
import type { Database } from '../core/database/pool.ts'
import { pageFailures, pageRuns } from './run-reports.ts'
import * as actions from '../core/database/statements/actions.ts'
import * as attention from '../core/database/statements/attention.ts'
import * as catalog from '../core/database/statements/catalog.ts'
import * as held from '../core/database/statements/held.ts'
import * as organizations from '../core/database/statements/organizations.ts'
import * as rejected from '../core/database/statements/rejected.ts'
import { ATTENTION_KINDS, AttentionRequestSchema, AttentionSchema } from '../documents/attention.ts'
import { CatalogRequestSchema } from '../documents/catalog-line.ts'
import { ChangeSchema, ChangesRequestSchema } from '../documents/change.ts'
import { checked, id, RunIdSchema } from '../documents/check.ts'
import { FailuresRequestSchema, RunsRequestSchema } from '../documents/run.ts'
import { OrganizationsRequestSchema } from '../documents/freshness.ts'
import { MISSING_NAMED, RECORD_CHARACTERS } from '../documents/waiting.ts'
import { CURSOR_FAULT, OfRunRequestSchema } from '../documents/page.ts'
import type { Page, PageRequest } from '../documents/page.ts'
import { UsageError } from '../base/errors.ts'
import type { CollabSync } from './collab-sync.ts'

type Listings = Pick<
  CollabSync,
  | 'listRuns'
  | 'listAttention'
  | 'listFailures'
  | 'listRejectedRecords'
  | 'listActions'
  | 'listHeld'
  | 'listOrganizations'
  | 'listChanges'
  | 'listCatalog'
>

/** An id of a row of ours. */
const RowId = z.int().min(0)
/** As far as a timestamp of PostgreSQL's and a number of ours both reach. */
const RunPlace = z.tuple([z.int().min(0), RunIdSchema]).readonly()

/** Kind and organization of a row of sync.attention. */
const AttentionPlace = z.tuple([z.enum(ATTENTION_KINDS), id.nullable()]).readonly()

/** A user group, or something else. */
const CatalogPlace = z.tuple([id.nullable(), id.nullable()]).readonly()

/** What can be paged through. */
export function listingsOn(database: Database): Listings {
  return {
    async listRuns(request = {}) {
      const { status = null, ...page } = checked(RunsRequestSchema, request, '')
      const { items, nextCursor } = await readPage(page, {
        name: 'runs',
        key: RunPlace,
        read: (after, limit) => pageRuns(database, { status, after, limit }),
        keyOf: ({ key }) => key,
      })
      return { items: items.map(({ item }) => item), nextCursor }
    },
    async listAttention(request = {}) {
      const { kind = null, ...page } = checked(AttentionRequestSchema, request, '')
      return readPage(page, {
        name: 'attention',
        key: AttentionPlace,
        read: async (after, limit) => {
          const [afterKind, afterOrganizationId] = after ?? [null, null]
          const of = { kind, afterKind, afterOrganizationId, limit }
          return z.array(AttentionSchema).parse(await attention.page.all(database, of))
        },
        keyOf: (row): z.output<typeof AttentionPlace> => [row.kind, row.organizationId],
      })
    },
    async listFailures(request = {}) {
      const asked = checked(FailuresRequestSchema, request, '')
      const { runId = null, organizationId = null, ...page } = asked
      return readPage(page, {
        name: 'failures',
        key: RowId,
        read: (before, limit) => pageFailures(database, { runId, organizationId, before, limit }),
        keyOf: ({ failureId }) => failureId,
      })
    },
    async listRejectedRecords(request = {}) {
      const { runId = null, ...page } = checked(OfRunRequestSchema, request, '')
      const of = { runId, isSetAside: false, mostCharacters: RECORD_CHARACTERS }
      return readPage(page, {
        name: 'rejected',
        key: RowId,
        read: (before, limit) => rejected.list.all(database, { ...of, before, limit }),
        keyOf: ({ rejectedRecordId }) => rejectedRecordId,
      })
    },
    async listActions(request = {}) {
      const { runId = null, ...page } = checked(OfRunRequestSchema, request, '')
      return readPage(page, {
        name: 'actions',
        key: RowId,
        read: (before, limit) => actions.list.all(database, { runId, before, limit }),
        keyOf: ({ actionId }) => actionId,
      })
    },
    async listHeld(request = {}) {
      const { runId = null, ...page } = checked(OfRunRequestSchema, request, '')
      const of = { runId, heldId: null, organizationId: null, mostUsers: MISSING_NAMED }
      return readPage(page, {
        name: 'held',
        key: RowId,
        read: (after, limit) => held.list.all(database, { ...of, after, limit }),
        keyOf: ({ heldId }) => heldId,
      })
    },
    async listOrganizations(request = {}) {
      const { search = null, ...page } = checked(OrganizationsRequestSchema, request, '')
      return readPage(page, {
        name: 'organizations',
        key: id,
        read: (after, limit) =>
          organizations.page.all(database, {
            contains: search,
            after,
            limit,
            organizationId: null,
          }),
        keyOf: ({ organizationId }) => organizationId,
      })
    },
    async listCatalog(request = {}) {
      const asked = checked(CatalogRequestSchema, request, '')
      const { organizationId = null, documentId = null, ...page } = asked
      if (documentId !== null && organizationId === null)
        throw new UsageError('documentId needs organizationId.')
      return readPage(page, {
        name: 'catalog',
        key: CatalogPlace,
        read: (after, limit) =>
          catalog.list.all(database, {
            organizationId,
            documentId,
            afterUserGroupId: after?.[0] ?? null,
            afterId: after?.[1] ?? null,
            limit,
          }),
        keyOf: (entry): z.output<typeof CatalogPlace> => [
          entry.organizationUserGroupId,
          entry.organizationUserGroupId === null
            ? (entry.annotationId ?? entry.documentId ?? entry.organizationId)
            : null,
        ],
      })
    },
    async listChanges(request = {}) {
      const asked = checked(ChangesRequestSchema, request, '')
      const { cursor: after = null, limit: max = LIMIT_DEFAULT } = asked
      const { changes, cursor, hasMore } = await readChanges(database, {
        after,
        max,
        objects: null,
      })
      const items = changes.map(({ key, row, runId, person, ...change }) =>
        ChangeSchema.parse({
          ...change,
          key: JSON.parse(key),
          ...(person !== null && { person }),
          row: JSON.parse(row ?? 'null'),
          run_id: runId,
        }),
      )
      const { lines: heldBack } = await readHeldBack(database)
      return { items, nextCursor: hasMore ? cursor : null, cursor, heldBack }
    },
  }
}

/** A listing that is read in the order of a key, so that rows added meanwhile make no gap and no double. */
export interface Listing<T, Key> {
  /** Goes into its cursors, so that one of another listing is refused. */
  readonly name: string
  readonly key: z.ZodType<Key>
  /** Up to `max` items behind the one with that key, or from the first on. */
  read(after: Key | null, max: number): Promise<readonly T[]>
  keyOf(item: T): Key
}

const LIMIT_DEFAULT = 50

/**
 * One page of a listing.
 * @param request checked
 * @throws UsageError naming `cursor`
 */
export async function readPage<T, Key>(
  { limit = LIMIT_DEFAULT, cursor }: PageRequest,
  listing: Listing<T, Key>,
): Promise<Page<T>> {
  const after = cursor === undefined ? null : keyIn(cursor, listing)
  // One more than asked for tells whether there is another page.
  const found = await listing.read(after, limit + 1)
  const items = found.slice(0, limit)
  const last = items.at(-1)
  const hasMore = found.length > limit && last !== undefined
  return { items, nextCursor: hasMore ? cursorOf(listing.name, listing.keyOf(last)) : null }
}

function cursorOf(name: string, key: unknown): string {
  return Buffer.from(JSON.stringify([name, key])).toString('base64url')
}

function keyIn<Key>(
  cursor: string,
  { name, key }: Pick<Listing<unknown, Key>, 'name' | 'key'>,
): Key {
  const parsed = z.tuple([z.literal(name), key]).safeParse(decoded(cursor))
  if (parsed.success) return parsed.data[1]
  throw new UsageError(`cursor ${CURSOR_FAULT}.`)
}

function decoded(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return null
  }
}
