import type { Database } from './pool.ts'
import * as pages from './statements/pages.ts'

/**
 * How many scopes were last checked how long ago, from the batches alone.
 * @param bounds upper bounds of the groups in seconds, the lowest first
 * @returns one number a group, then those older than every bound, then those never checked
 */
export async function readCheckAges(
  database: Database,
  bounds: readonly number[],
): Promise<number[]> {
  const never = bounds.length + 1
  const scopes = Array.from({ length: never + 1 }, () => 0)
  for (const row of await pages.checkAges.all(database, { bounds }))
    scopes[row.ageGroup ?? never] = row.scopes
  return scopes
}
