import type { Database } from '../core/database/pool.ts'
import * as batches from '../core/database/statements/batches.ts'
import { readPace } from '../core/rate-limit/pace.ts'
import { counted, duration } from '../schemas/format.ts'
import type { Settings } from '../settings/table.ts'

/** The calls of a run of everything, and how long they take at the limit in force, in words. Null if the catalog is empty. */
export async function describeFullRun(
  database: Database,
  { operations, rateLimit = Infinity }: Pick<Settings, 'operations' | 'rateLimit'>,
): Promise<string | null> {
  const { scopes: calls } = await batches.countScopes.one(database, {
    operations,
    organizationIds: null,
  })
  if (calls === 0) return null
  const { callsPerSecond, lowestRateLimit } = await readPace(database)
  const limit = Math.min(rateLimit, lowestRateLimit ?? Infinity)
  const pace = callsPerSecond ?? Infinity
  const lowest = Math.min(limit, pace)
  const words = `A run of everything makes about ${counted(calls, 'call')}.`
  if (lowest === Infinity) return words
  const by = pace < limit ? `the pace of ${pace} calls a second` : `SYNC_RATE_LIMIT=${limit}`
  return `${words} At ${by}, this takes about ${duration((1000 * calls) / lowest)}.`
}
