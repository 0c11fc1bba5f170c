import type { Database } from './pool.ts'
import { sql } from './sql.ts'

/** What a prune deleted, in rows. */
export type Pruned = Record<keyof typeof TABLES, number>

/** How far a prune is: table by table, a share of each from 0 to 1. */
export type OnPruned = (table: string, share: number, deleted: number) => void

/** In this order: what a run consists of goes before the run, so that no delete has a long tail. */
const TABLES = {
  commentVersions: ['collab_store.comment_versions', 'prune/comment-versions'],
  pastMemberships: ['collab_store.past_memberships', 'prune/past-memberships'],
  runItems: ['sync.run_items', 'prune/run-items'],
  failures: ['sync.failures', 'prune/failures'],
  rejectedRecords: ['sync.rejected_records', 'prune/rejected-records'],
  held: ['sync.held', 'prune/held'],
  runs: ['sync.runs', 'prune/runs'],
} as const

/** 4 MiB: some ten thousand rows, a fraction of a second. */
const BLOCKS_A_STEP = 512

/**
 * Deletes history that ended before a time (superseded versions of comments, past memberships) and runs that were settled
 * before it, with what they consisted of. Step by step, each a transaction of its own: syncs go on beside it, and it can be
 * stopped and repeated at any point. What is current is never touched.
 */
export async function prune(
  database: Database,
  before: Date,
  onPruned: OnPruned = () => {},
): Promise<Pruned> {
  const pruned: Partial<Pruned> = {}
  for (const [name, [table, statement]] of Object.entries(TABLES)) {
    const { rows } = await database.query(sql('prune/blocks'), [table])
    const blocks: number = rows[0].blocks
    let deleted = 0
    for (let from = 0; from < blocks; from += BLOCKS_A_STEP) {
      const step = await database.query(sql(statement), [before, from, from + BLOCKS_A_STEP])
      deleted += step.rowCount ?? 0
      onPruned(table, Math.min(1, (from + BLOCKS_A_STEP) / blocks), deleted)
    }
    pruned[name as keyof Pruned] = deleted
  }
  return pruned as Pruned
}
