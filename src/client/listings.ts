import * as z from 'zod'
import type { Database } from '../database/pool.ts'
import { durationOf, pageRuns, RUN_STATUSES } from '../database/run-reports.ts'
import * as failures from '../database/statements/failures.ts'
import * as held from '../database/statements/held.ts'
import * as organizations from '../database/statements/organizations.ts'
import * as rejected from '../database/statements/rejected.ts'
import { isStorable } from '../database/storable.ts'
import { RECORD_CHARACTERS } from '../database/waiting.ts'
import { UsageError } from '../errors.ts'
import { runIdOf, shown, textOf } from './collab-sync.ts'
import type { CollabSync, Page, PageRequest } from './collab-sync.ts'

type Listings = Pick<
  CollabSync,
  'listRuns' | 'listFailures' | 'listRejectedRecords' | 'listHeld' | 'listOrganizations'
>

/** An id of a row of ours. */
const RowId = z.int().min(0)
/** As far as a timestamp of PostgreSQL's and a number of ours both reach. */
const RunPlace = z.tuple([z.int().min(0), z.uuid()]).readonly()
const USERS_NAMED = 100
const Text = z.string().refine(isStorable)

/** What can be paged through. */
export function listingsOn(database: Database): Listings {
  return {
    async listRuns({ status, ...page } = {}) {
      if (status !== undefined && !RUN_STATUSES.includes(status)) {
        throw new UsageError(`status must be one of ${RUN_STATUSES.join(', ')}.`)
      }
      const { items, nextCursor } = await readPage(page, {
        name: 'runs',
        key: RunPlace,
        read: (after, limit) => pageRuns(database, { status: status ?? null, after, limit }),
        keyOf: ({ key }) => key,
      })
      const runs = items.map(({ item }) => ({ ...item, durationMs: durationOf(item) }))
      return { items: runs, nextCursor }
    },
    async listFailures({ runId, organizationId, ...page } = {}) {
      const of = {
        runId: runIdOf(runId),
        organizationId: textOf('organizationId', organizationId),
      }
      return readPage(page, {
        name: 'failures',
        key: RowId,
        read: (before, limit) => failures.page.all(database, { ...of, before, limit }),
        keyOf: ({ failureId }) => failureId,
      })
    },
    async listRejectedRecords({ runId, ...page } = {}) {
      const of = {
        runId: runIdOf(runId),
        isSetAside: false,
        mostCharacters: RECORD_CHARACTERS,
      }
      return readPage(page, {
        name: 'rejected',
        key: RowId,
        read: (before, limit) => rejected.list.all(database, { ...of, before, limit }),
        keyOf: ({ rejectedRecordId }) => rejectedRecordId,
      })
    },
    async listHeld({ runId, ...page } = {}) {
      const of = { runId: runIdOf(runId), mostUsers: USERS_NAMED }
      return readPage(page, {
        name: 'held',
        key: RowId,
        read: (after, limit) => held.list.all(database, { ...of, after, limit }),
        keyOf: ({ heldId }) => heldId,
      })
    },
    async listOrganizations({ search, ...page } = {}) {
      const contains = textOf('search', search)
      return readPage(page, {
        name: 'organizations',
        key: Text,
        read: (after, limit) => organizations.page.all(database, { contains, after, limit }),
        keyOf: ({ organizationId }) => organizationId,
      })
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
const LIMIT_MAX = 500
/** The longest key is an id of the service's. */
export const CURSOR_CHARACTERS_MAX = 8000

/**
 * One page of a listing.
 * @throws UsageError naming `limit` or `cursor`
 */
async function readPage<T, Key>(
  { limit = LIMIT_DEFAULT, cursor }: PageRequest,
  listing: Listing<T, Key>,
): Promise<Page<T>> {
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) {
    throw new UsageError(`limit must be a whole number from 1 to ${LIMIT_MAX}.`)
  }
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

function keyIn<Key>(cursor: unknown, { name, key }: Pick<Listing<unknown, Key>, 'name' | 'key'>) {
  const parsed = z.tuple([z.literal(name), key]).safeParse(decoded(cursor))
  if (parsed.success) return parsed.data[1]
  throw new UsageError(
    `cursor must be the nextCursor of a page of the same listing, not ${shown(cursor)}.`,
  )
}

function decoded(cursor: unknown): unknown {
  if (typeof cursor !== 'string' || cursor.length > CURSOR_CHARACTERS_MAX) return null
  if (!/^[\w-]+$/.test(cursor)) return null
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return null
  }
}
