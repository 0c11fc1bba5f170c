import type { WaitingListing } from './held-pages.ts'
import type { Database } from './pool.ts'
import { sql } from './sql.ts'
import { DEAD_AFTER_S } from './workers.ts'

/** A process that works, or did until lately. */
export interface WorkerReport {
  /** `host:pid:random`. */
  readonly workerId: string
  readonly startedAt: Date
  readonly heartbeatAt: Date
  readonly callsInFlight: number
  /** Most calls in flight that it found the service keeps up with. */
  readonly callsLimit: number
  readonly latencyMs: number | null
  readonly alive: boolean
  /** It does not live, and holds a transaction open: others may wait for its locks. */
  readonly holdsTransaction: boolean
}

/** A listing that waits for a person, as a report tells of it: with the first few users that it lacked. */
export type HeldReport = Omit<WaitingListing, 'heldId'>

/** What there is to sync, and when it was last gone through. */
export interface Freshness {
  readonly scopes: number
  readonly annotations: number
  readonly neverChecked: number
  /** Null where nothing was ever checked. */
  readonly oldestCheck: Date | null
  readonly newestCheck: Date | null
}

export async function readWorkers(database: Database): Promise<WorkerReport[]> {
  const { rows } = await database.query(sql('workers/read'), [DEAD_AFTER_S])
  return rows.map((row) => ({
    workerId: row.worker_id,
    startedAt: row.started_at,
    heartbeatAt: row.heartbeat_at,
    callsInFlight: row.calls_in_flight,
    callsLimit: row.calls_limit,
    latencyMs: row.latency_ms,
    alive: row.alive,
    holdsTransaction: row.holds_transaction,
  }))
}

export async function countLiveWorkers(database: Database): Promise<number> {
  const { rows } = await database.query(sql('workers/count-alive'), [DEAD_AFTER_S])
  return rows[0].alive
}

/**
 * Listings that wait for a person, the oldest first.
 * @param runId those that this run last saw; null for all
 * @returns up to `max` of them, and how many there are
 */
export async function readHeld(
  database: Database,
  runId: string | null,
  max: number,
): Promise<{ listings: number; first: HeldReport[] }> {
  const { rows } = await database.query(sql('held/open'), [runId, max])
  return {
    listings: rows[0]?.listings ?? 0,
    first: rows.map((row) => ({
      runId: row.run_id,
      at: row.at,
      kind: row.kind,
      organizationId: row.organization_id,
      documentId: row.document_id,
      organizationUserGroupId: row.organization_user_group_id,
      usersBefore: row.users_before,
      usersMissing: row.users_missing,
      firstMissingUserIds: row.first_missing_user_ids,
      repeats: row.repeats,
    })),
  }
}

/** From the batches alone, so that it costs no scan of a large table. */
export async function readFreshness(database: Database): Promise<Freshness> {
  const { rows } = await database.query(sql('scopes/freshness'))
  const row = rows[0]
  return {
    scopes: row.scopes,
    annotations: row.annotations,
    neverChecked: row.never_checked,
    oldestCheck: row.oldest_check,
    newestCheck: row.newest_check,
  }
}
