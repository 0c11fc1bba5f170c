import { listenForChanges, readChanges, readHeldBack } from '../../features/export/changes.ts'
import type { StoredChange } from '../../features/export/changes.ts'
import type { Database } from '../../core/database/pool.ts'
import { isReaderGone } from '../../features/export/target.ts'
import { writeAll } from '../../features/export/text.ts'
import { counted, time } from '../../documents/format.ts'
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

/** Changes a page. */
const PAGE = 1000
/** How long what cannot be heard of waits at most: of a standby, or held back. */
const POLL_MS = 2000

/** `collab-sync changes`: what changed behind a cursor, one JSON document a line. */
export async function changesCommand(options: ChangesOptions): Promise<number> {
  return withTables({ name: 'changes' }, async ({ database }) => {
    const stopping = new AbortController()
    const forget = onSignals(() => {
      stopping.abort()
      // Another one breaks what hangs.
      forget()
    })
    try {
      const printed = await printChanges(database, options, stopping.signal)
      note(`${counted(printed.changes, 'change')}. Go on with --after ${printed.cursor}`)
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
  // Before the first look, so that nothing comes unheard in between.
  const listener = follow ? await listenForChanges(database, stopping) : null
  const noteHeldBack = heldBackNotes(database)
  try {
    let changes = 0
    for (let from = after ?? null; ;) {
      const page = await readChanges(database, { after: from, max: PAGE, objects })
      from = page.cursor
      const printed = page.changes.slice(0, limit - changes)
      if (printed.length > 0) await writeAll(process.stdout, printed.map(lineOf).join(''))
      changes += printed.length
      // What was asked for and is not printed is for the next time.
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

/** Key and row are the texts of PostgreSQL: no number in them is rounded. */
function lineOf(stored: StoredChange): string {
  const { cursor, object, change, key, person, row, at, runId } = stored
  const ofPerson = person === null ? '' : `,"person":${JSON.stringify(person)}`
  const head = `"cursor":"${cursor}","object":"${object}","change":"${change}","key":${key}${ofPerson}`
  const tail = `"row":${row},"at":"${at.toISOString()}","run_id":${JSON.stringify(runId)}`
  return `${printable(`{${head},${tail}}`)}\n`
}

/** Says what is held back and by whom: once, and again where it is another transaction. */
function heldBackNotes(database: Database): () => Promise<void> {
  let said = ''
  return async () => {
    const { lines, ...holder } = await readHeldBack(database)
    const key = JSON.stringify(holder)
    if (lines === 0 || key === said) return
    said = key
    const waiting = `${counted(lines, 'more change')} ${lines === 1 ? 'waits' : 'wait'}`
    note(`${waiting} for ${describeHolder(holder)}.`)
  }
}

type Holder = Omit<Awaited<ReturnType<typeof readHeldBack>>, 'lines'>

/** The open transaction that holds the feed back, as far as this role may know it. */
export function describeHolder({ since, pid, roleName, databaseName, applicationName }: Holder) {
  if (roleName === null) return 'an open transaction of this database'
  const session = pid === null ? '' : ` (process ${pid})`
  const began = since === null ? '' : `, open since ${time(since)}`
  return `a transaction of ${roleName} in the database ${databaseName}, ${applicationName || 'without a name'}${session}${began}`
}
