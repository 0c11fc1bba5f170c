import { setTimeout as sleep } from 'node:timers/promises'
import { CursorGoneError, UsageError } from '../../base/errors.ts'
import { codeOf } from '../../core/database/connection-errors.ts'
import type { Database } from '../../core/database/pool.ts'
import type { On, RowOf } from '../../core/database/statement.ts'
import * as changes from '../../core/database/statements/changes.ts'

type Row = RowOf<typeof changes.read>

/** A change; key and row are PostgreSQL's JSON texts. */
export type StoredChange = Row & {
  readonly object: string
  readonly change: string
  readonly key: string
  readonly at: Date
}

export interface ChangesFilter {
  /** Null for the beginning of the feed. */
  readonly after: string | null
  /** How many are read. Fewer are returned if `objects` or the rights of the role leave some out. */
  readonly max: number
  /** Null for all. */
  readonly objects: readonly string[] | null
}

/**
 * Reads the changes after a cursor.
 * @returns a page of the feed, and the cursor after it
 * @throws UsageError if it is not a cursor; CursorGoneError if it is of another feed, or older than the stored changes
 */
export async function readChanges(database: On, { after, max, objects }: ChangesFilter) {
  const rows = await changes.read
    .all(database, { after, maxChanges: max, objects })
    .catch(throwOfCursor)
  const end = rows.at(-1) as Row
  return {
    changes: rows.filter(isChange),
    cursor: end.cursor,
    hasMore: end.change === 'more',
  }
}

/** The last row has only the next cursor. */
function isChange(row: Row): row is StoredChange {
  return row.object !== null
}

const CURSOR_GONE = 'CS410'
const INVALID_PARAMETER = '22023'

function throwOfCursor(error: unknown): never {
  const code = codeOf(error)
  if (code === INVALID_PARAMETER) throw new UsageError((error as Error).message)
  if (code !== CURSOR_GONE) throw error
  throw new CursorGoneError(
    `${(error as Error).message} Start again with \`collab-sync export\`, which prints the next cursor.`,
  )
}

/** Changes that the feed does not return yet, and the open transaction that it waits for. */
export async function readHeldBack(database: Database): Promise<RowOf<typeof changes.heldBack>> {
  return changes.heldBack.one(database)
}

/** Listens for changes. On a server that does not allow it, such as a standby, `next` always takes `mostMs`. */
export async function listenForChanges(database: Database, signal: AbortSignal) {
  let notified = new AbortController()
  const client = await database.connect()
  client.on('notification', () => notified.abort())
  signal.addEventListener('abort', () => notified.abort())
  // The next read of the feed throws it.
  client.on('error', () => {})
  await changes.listen.run(client).catch(() => {})
  return {
    /** Resolves if a change was committed since the previous call, after `mostMs`, or when the signal aborts. */
    async next(mostMs: number): Promise<void> {
      await sleep(mostMs, undefined, { signal: notified.signal }).catch(() => {})
      if (notified.signal.aborted) notified = new AbortController()
    },
    close: () => client.release(true),
  }
}
