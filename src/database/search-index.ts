import { UsageError } from '../errors.ts'
import { openDatabase } from './pool.ts'
import type { Client } from './pool.ts'
import * as search from './statements/search.ts'

/**
 * Makes or removes the index that `reporting.search_comments` uses over all organizations, while syncs go on. What was
 * broken off before is begun anew. Safe to repeat.
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
      // Over millions of comments it takes minutes; closing the connection gives the lock back.
      await client.query('set statement_timeout = 0')
      return await changeIndex(client, state)
    } finally {
      client.release(true)
    }
  } finally {
    await database.end()
  }
}

async function changeIndex(client: Client, state: 'on' | 'off'): Promise<boolean> {
  const { taken } = await search.lock.one(client)
  if (!taken) throw new UsageError('The search index is being changed by another process.')
  const isWhole = (await search.isIndexWhole.first(client))?.isWhole
  if (state === 'on' ? isWhole === true : isWhole === undefined) return false
  if (isWhole !== undefined) await search.dropIndex.run(client)
  if (state === 'on') await search.createIndex.run(client)
  return true
}
