import { UsageError } from '../errors.ts'
import { openDatabase } from './pool.ts'
import type { Client, Database } from './pool.ts'
import * as statements from './statements/prune.ts'
import * as search from './statements/search.ts'

/** What a prune deleted, in rows. */
export type Pruned = Record<keyof typeof TABLES, number>

/** How far a prune is: table by table, a share of each from 0 to 1. */
export type OnPruned = (table: string, share: number, deleted: number) => void

/** In this order: what a run consists of goes before the run, so that no delete has a long tail. */
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
  runs: ['sync.runs', statements.runs],
} as const

/** 4 MiB: some ten thousand rows, a fraction of a second. */
const BLOCKS_A_STEP = 512

/**
 * Deletes history that ended before a time (superseded versions of comments and of people, past memberships, the feed of
 * changes, imports of the catalog) and runs that were settled before it, with what they consisted of. Step by step, each a transaction of its own: syncs go on beside it, and it can be
 * stopped and repeated at any point. What is current is never touched.
 */
export async function prune(
  database: Database,
  before: Date,
  onPruned: OnPruned = () => {},
): Promise<Pruned> {
  const pruned: Partial<Pruned> = {}
  for (const [name, [table, statement]] of Object.entries(TABLES)) {
    const { blocks } = await statements.blocks.one(database, { table })
    let deleted = 0
    for (let firstBlock = 0; firstBlock < blocks; firstBlock += BLOCKS_A_STEP) {
      const endBlock = firstBlock + BLOCKS_A_STEP
      deleted += await statement.run(database, { before, firstBlock, endBlock })
      onPruned(table, Math.min(1, endBlock / blocks), deleted)
    }
    pruned[name as keyof Pruned] = deleted
  }
  return pruned as Pruned
}

/**
 * Makes or removes the index that `reporting.search` uses over all organizations, while syncs go on. What was broken off
 * before is begun anew; the index of an earlier version is removed, once the new one is there. Safe to repeat.
 * @param url of the database, by the role that owns the tables
 * @param state whether the index is wanted
 * @returns false where it was as wanted already
 * @throws UsageError where somebody else is at it
 */
export async function setSearchIndex(url: string, state: 'on' | 'off'): Promise<boolean> {
  const database = openDatabase(url, { max: 1, applicationName: 'search-index' })
  try {
    const client = await database.connect()
    try {
      // Over millions of comments it takes minutes.
      await client.query('set statement_timeout = 0')
      return await changeIndex(client, state)
    } finally {
      // A server under load hears late that a connection was closed, and whoever comes next must not find the lock taken.
      await client.query('select pg_advisory_unlock_all()').catch(() => {})
      client.release(true)
    }
  } finally {
    await database.end()
  }
}

async function changeIndex(client: Client, state: 'on' | 'off'): Promise<boolean> {
  const { taken } = await search.lock.one(client)
  if (!taken) throw new UsageError('The search index is being changed by another process.')
  const { isWhole, hasEarlier } = await search.readIndex.one(client)
  const isWanted = state === 'on'
  if (!hasEarlier && isWhole === (isWanted || null)) return false
  if (isWhole !== null && !(isWanted && isWhole)) await search.dropIndex.run(client)
  if (isWanted && !isWhole) {
    await search.createIndex.run(client)
    await search.analyze.run(client)
  }
  if (hasEarlier) await search.dropEarlierIndex.run(client)
  return true
}
