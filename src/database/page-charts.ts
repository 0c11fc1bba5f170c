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

/** The calls of a run in one part of its time. */
export interface CallsPart {
  /** From the run's begin to this part's. */
  readonly fromMs: number
  readonly calls: number
  readonly retries: number
  /** Waiting for answers, a call; null where there was no call. */
  readonly meanMs: number | null
}

/**
 * The calls of a run over its time so far.
 * @returns so many equal parts, those without calls too; none where nothing was asked yet
 */
export async function readCallsOverTime(
  database: Database,
  runId: string,
  parts: number,
): Promise<CallsPart[]> {
  const rows = await pages.callsOverTime.all(database, { runId, parts })
  const [first] = rows
  if (first === undefined) return []
  const partMs = first.partSeconds * 1000
  const byPart = new Map(rows.map((row) => [row.part, row]))
  return Array.from({ length: parts }, (_, part) => {
    const row = byPart.get(part)
    return {
      fromMs: part * partMs,
      calls: row?.calls ?? 0,
      retries: row?.retries ?? 0,
      meanMs: row === undefined ? null : row.serviceMs / row.calls,
    }
  })
}
