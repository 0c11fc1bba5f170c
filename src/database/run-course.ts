import type { Database } from './pool.ts'
import { sql } from './sql.ts'

/** The calls of a run in one part of its time. */
export interface CallsPart {
  /** From the run's begin to this part's. */
  readonly fromMs: number
  readonly calls: number
  readonly retries: number
  /** Waiting for answers, a call; null where there was no call. */
  readonly meanMs: number | null
}

/** Where a run waited, and for what; sums over calls and batches that ran side by side. */
export interface SlowOrganization {
  readonly organizationId: string
  readonly calls: number
  readonly retries: number
  readonly serviceMs: number
  readonly waitedMs: number
  readonly databaseMs: number
}

/** The id of the newest nightly run; null where there was none yet. */
export async function findNewestNightly(database: Database): Promise<string | null> {
  const { rows } = await database.query(sql('pages/newest-nightly'))
  return rows[0]?.run_id ?? null
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
  const { rows } = await database.query(sql('pages/calls-over-time'), [runId, parts])
  if (rows.length === 0) return []
  const partMs = rows[0].part_seconds * 1000
  const byPart = new Map(rows.map((row) => [row.part, row]))
  return Array.from({ length: parts }, (_, part) => {
    const row = byPart.get(part)
    return {
      fromMs: part * partMs,
      calls: row?.calls ?? 0,
      retries: row?.retries ?? 0,
      meanMs: row === undefined ? null : row.service_ms / row.calls,
    }
  })
}

/** The organizations that a run waited longest for, the slowest first. */
export async function readSlowestOrganizations(
  database: Database,
  runId: string,
  max: number,
): Promise<SlowOrganization[]> {
  const { rows } = await database.query(sql('pages/slowest-organizations'), [runId, max])
  return rows.map((row) => ({
    organizationId: row.organization_id,
    calls: row.calls,
    retries: row.retries,
    serviceMs: row.service_ms,
    waitedMs: row.waited_ms,
    databaseMs: row.database_ms,
  }))
}
