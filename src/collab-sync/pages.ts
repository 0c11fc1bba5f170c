import * as z from 'zod'
import { UsageError } from '../errors.ts'
import type { Page, PageRequest } from './collab-sync.ts'
import { shown } from './request.ts'

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
export async function readPage<T, Key>(
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
