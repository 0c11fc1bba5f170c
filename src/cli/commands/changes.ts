import { listenForChanges, readChanges, readHeldBack } from '../../features/export/changes.ts'
import type { StoredChange } from '../../features/export/changes.ts'
import type { Database } from '../../core/database/pool.ts'
import { isReaderGone } from '../../features/export/target.ts'
import { writeAll } from '../../features/export/text.ts'
import { counted, time } from '../../schemas/format.ts'
import { printable } from '../../base/printable.ts'
import { EXIT } from '../exit.ts'
import { note } from '../output.ts'
import { onSignals } from '../signals.ts'
import { withTables } from '../with-store.ts'

interface ChangesOptions {
  after?: string
  limit?: number
  objects?: readonly string[] | null
  follow?: boolean
}

const PAGE_SIZE = 1000
/** Polling interval: on a standby, and for delayed changes, no notification arrives. */
const POLL_MS = 2000

/** `collab-sync changes`: the changes after a cursor, one JSON document per line. */
export async function changesCommand(options: ChangesOptions): Promise<number> {
  return withTables({ name: 'changes' }, async ({ database }) => {
    const stopping = new AbortController()
    const forget = onSignals(() => {
      stopping.abort()
      // A second signal ends the process.
      forget()
    })
    try {
      const printed = await printChanges(database, options, stopping.signal)
      note(`${counted(printed.changes, 'change')}. Continue with --after ${printed.cursor}`)
      return printed.isStopped && !options.follow ? EXIT.failed : EXIT.done
    } catch (error) {
      if (isReaderGone(error)) return EXIT.done
      throw error
    } finally {
      forget()
    }
  })
}

async function printChanges(
  database: Database,
  { after, limit = Infinity, objects = null, follow = false }: ChangesOptions,
  stopping: AbortSignal,
): Promise<{ changes: number; cursor: string; isStopped: boolean }> {
  // Before the first page, so that no notification is missed.
  const listener = follow ? await listenForChanges(database, stopping) : null
  const noteHeldBack = heldBackNotes(database)
  try {
    let changes = 0
    for (let from = after ?? null; ;) {
      const page = await readChanges(database, { after: from, max: PAGE_SIZE, objects })
      from = page.cursor
      const printed = page.changes.slice(0, limit - changes)
      if (printed.length > 0) await writeAll(process.stdout, printed.map(lineOf).join(''))
      changes += printed.length
      // The next call prints the changes beyond the limit.
      const isCut = printed.length < page.changes.length
      const cursor = (isCut && printed.at(-1)?.cursor) || page.cursor
      const isStopped = stopping.aborted
      if (isStopped || changes >= limit) return { changes, cursor, isStopped }
      if (page.hasMore) continue
      await noteHeldBack()
      if (listener === null) return { changes, cursor, isStopped }
      await listener.next(POLL_MS)
      if (stopping.aborted) return { changes, cursor, isStopped: true }
    }
  } finally {
    listener?.close()
  }
}

/** Key and row are inserted as JSON text of PostgreSQL, so that no number is rounded. */
function lineOf(stored: StoredChange): string {
  const { cursor, object, change, key, person, row, at, runId } = stored
  const ofPerson = person === null ? '' : `,"person":${JSON.stringify(person)}`
  const head = `"cursor":"${cursor}","object":"${object}","change":"${change}","key":${key}${ofPerson}`
  const tail = `"row":${row},"at":"${at.toISOString()}","run_id":${JSON.stringify(runId)}`
  return `${printable(`{${head},${tail}}`)}\n`
}

/** Reports delayed changes, once per blocking transaction. */
function heldBackNotes(database: Database): () => Promise<void> {
  let said = ''
  return async () => {
    const { lines, ...holder } = await readHeldBack(database)
    const key = JSON.stringify(holder)
    if (lines === 0 || key === said) return
    said = key
    note(`${counted(lines, 'more change')} delayed by ${describeHolder(holder)}.`)
  }
}

type Holder = Omit<Awaited<ReturnType<typeof readHeldBack>>, 'lines'>

/** The open transaction that delays the feed, with the details that this role may read. */
export function describeHolder({ since, pid, roleName, databaseName, applicationName }: Holder) {
  if (roleName === null) return 'an open transaction of this database'
  const session = pid === null ? '' : ` (process ${pid})`
  const began = since === null ? '' : `, open since ${time(since)}`
  return `a transaction of ${roleName} in the database ${databaseName}, ${applicationName || 'unnamed'}${session}${began}`
}
