import { setTimeout as sleep } from 'node:timers/promises'
import { CursorGoneError, UsageError } from '../../base/errors.ts'
import { codeOf } from '../../core/database/connection-errors.ts'
import type { Database } from '../../core/database/pool.ts'
import type { On, RowOf } from '../../core/database/statement.ts'
import * as changes from '../../core/database/statements/changes.ts'

type Row = RowOf<typeof changes.read>

/** A change as PostgreSQL gives it: key and row as JSON texts. */
export type StoredChange = Row & {
  readonly object: string
  readonly change: string
  readonly key: string
  readonly at: Date
}

/** Some changes, and where to go on. */
export interface ReadChanges {
  readonly changes: readonly StoredChange[]
  readonly cursor: string
  readonly hasMore: boolean
}

export interface ChangesFilter {
  /** Null for the beginning of the feed. */
  readonly after: string | null
  /** How many are looked through. Fewer come where the caller does not see or want all of them. */
  readonly max: number
  /** Null for all. */
  readonly objects: readonly string[] | null
}

/**
 * Reads what changed behind a cursor.
 * @throws UsageError for what is no cursor; CursorGoneError for one of another feed, or older than what is kept
 */
export async function readChanges(
  database: On,
  { after, max, objects }: ChangesFilter,
): Promise<ReadChanges> {
  const rows = await changes.read
    .all(database, { after, maxChanges: max, objects })
    .catch(tellCursor)
  const end = rows.at(-1) as Row
  return {
    changes: rows.filter(isChange),
    cursor: end.cursor,
    hasMore: end.change === 'more',
  }
}

/**
 * Page after page for ever, each as of a moment no earlier than the one before and read when it is asked for.
 * @throws as readChanges
 */
export async function* readPages(
  database: Database,
  filter: ChangesFilter,
): AsyncGenerator<ReadChanges, never> {
  for (let { after } = filter; ;) {
    const page = await readChanges(database, { ...filter, after })
    yield page
    after = page.cursor
  }
}

/** The last row has nothing but the cursor to go on from. */
function isChange(row: Row): row is StoredChange {
  return row.object !== null
}

const CURSOR_GONE = 'CS410'
const INVALID_PARAMETER = '22023'

function tellCursor(error: unknown): never {
  const code = codeOf(error)
  if (code === INVALID_PARAMETER) throw new UsageError((error as Error).message)
  if (code !== CURSOR_GONE) throw error
  throw new CursorGoneError(
    `${(error as Error).message} Start over from \`collab-sync export\`, which says the cursor to go on from.`,
  )
}

/** Changes that are stored but not given yet, and whose open transaction they wait for. */
export async function readHeldBack(database: Database): Promise<RowOf<typeof changes.heldBack>> {
  return changes.heldBack.one(database)
}

/** Wakes whoever follows the feed. */
export interface Listener {
  /** Resolves once something was committed since it was last called, after so long, or when the signal aborts. */
  next(mostMs: number): Promise<void>
  close(): void
}

/** Listens for changes. Where the server lets nobody listen, as a standby, `next` just takes its time. */
export async function listenForChanges(database: Database, signal: AbortSignal): Promise<Listener> {
  let heard = new AbortController()
  const client = await database.connect()
  client.on('notification', () => heard.abort())
  signal.addEventListener('abort', () => heard.abort())
  // Whoever reads next is told.
  client.on('error', () => {})
  await changes.listen.run(client).catch(() => {})
  return {
    async next(mostMs) {
      await sleep(mostMs, undefined, { signal: heard.signal }).catch(() => {})
      if (heard.signal.aborted) heard = new AbortController()
    },
    close: () => client.release(true),
  }
}
