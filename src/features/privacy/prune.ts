import type { Log } from '../../base/log.ts'
import type { Client, Database } from '../../core/database/pool.ts'
import * as statements from '../../core/database/statements/prune.ts'
import { counted, time } from '../../schemas/format.ts'

/** What a prune deleted, in rows. */
export type Pruned = Record<keyof typeof TABLES, number>

/** Called with the progress of a prune: the table, the share of it from 0 to 1 that was read, and the rows deleted. */
export type OnPruned = (table: string, share: number, deleted: number) => void

interface PruneOptions {
  /** Only counts what would be deleted. */
  readonly isDryRun?: boolean
  readonly onPruned?: OnPruned
  /** Ends the prune after the current step. */
  readonly signal?: AbortSignal
}

/** In this order: the parts of a run are deleted before the run, so that no delete cascades to many rows. */
const TABLES = {
  commentVersions: ['collab_store.comment_versions', statements.commentVersions],
  userVersions: ['collab_store.user_versions', statements.userVersions],
  pastMemberships: ['collab_store.past_memberships', statements.pastMemberships],
  changes: ['collab_store.changes', statements.changes],
  catalogImports: ['sync.catalog_imports', statements.catalogImports],
  runItems: ['sync.run_items', statements.runItems],
  failures: ['sync.failures', statements.failures],
  rejectedRecords: ['sync.rejected_records', statements.rejectedRecords],
  held: ['sync.held', statements.held],
  // Each run looks for items, also among those that were just deleted: tens of thousands in a large catalog.
  runs: ['sync.runs', statements.runs, 1],
  nightlyDue: ['sync.nightly_due', statements.nightlyDue],
  pauses: ['sync.pauses', statements.pauses],
  actions: ['sync.actions', statements.actions],
} as const

/** The tables that a prune deletes from. */
export const PRUNED_TABLES: readonly string[] = Object.values(TABLES).map(([table]) => table)

/** 4 MiB: some ten thousand rows, a fraction of a second. */
const BLOCKS_A_STEP = 512

/**
 * Deletes history that ended before a time: superseded versions of comments and users, past memberships, the feed of changes,
 * imports of the catalog, actions, finished runs with their items, due times of nightly runs, and pauses of the calls. Each step
 * is a transaction of its own, so that syncs continue beside it, and it can be stopped and repeated at any point. Current rows
 * are never deleted.
 * @throws the reason of `signal` when it aborts
 */
export async function prune(
  database: Database,
  before: Date,
  { isDryRun = false, onPruned = () => {}, signal }: PruneOptions = {},
): Promise<Pruned> {
  const pruned: Partial<Pruned> = {}
  for (const [name, [table, statement, step = BLOCKS_A_STEP]] of Object.entries(TABLES)) {
    const { blocks } = await statements.blocks.one(database, { table })
    let deleted = 0
    for (let firstBlock = 0; firstBlock < blocks; firstBlock += step) {
      signal?.throwIfAborted()
      const endBlock = firstBlock + step
      deleted += (await statement.one(database, { before, firstBlock, endBlock, isDryRun })).number
      onPruned(table, Math.min(1, endBlock / blocks), deleted)
    }
    pruned[name as keyof Pruned] = deleted
  }
  return pruned as Pruned
}

/** Records a prune in `sync.actions`. @param runId the nightly run for which it was made; null if a user made it */
export async function notePrune(
  on: Client | Database,
  { by, runId, before, pruned }: { by: string; runId: string | null; before: Date; pruned: Pruned },
): Promise<void> {
  const rows = Object.values(pruned).reduce((sum, each) => sum + each, 0)
  await statements.note.run(on, {
    by,
    runId,
    target: `before ${time(before)}: ${counted(rows, 'row')}`,
  })
}

/**
 * Applies PRUNE_OLDER_THAN once for a nightly run, however often its job is delivered. A prune that was interrupted is continued.
 * @param olderThanMs PRUNE_OLDER_THAN in milliseconds
 * @throws the reason of `signal` when it aborts
 */
export async function pruneOnce(
  database: Database,
  { runId, by, olderThanMs }: { runId: string; by: string; olderThanMs: number },
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<void> {
  if ((await statements.ofRun.one(database, { runId })).isPruned) return
  const before = new Date(Date.now() - olderThanMs)
  const pruned = await prune(database, before, { signal })
  await notePrune(database, { by, runId, before, pruned })
  log.info({ before, ...pruned }, 'history pruned')
}
