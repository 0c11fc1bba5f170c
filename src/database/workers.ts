import type { Database } from './pool.ts'
import { sql } from './sql.ts'

/** A worker without a heartbeat for so long is taken for dead; six heartbeats. */
export const DEAD_AFTER_S = 30

/** What a worker tells of itself with every heartbeat. */
export interface Heartbeat {
  readonly workerId: string
  readonly callsInFlight: number
  readonly callsLimit: number
  readonly latencyMs: number | null
}

/** Says that a worker lives. */
export async function writeHeartbeat(database: Database, heartbeat: Heartbeat): Promise<void> {
  const { workerId, callsInFlight, callsLimit, latencyMs } = heartbeat
  await database.query(sql('workers/beat'), [workerId, callsInFlight, callsLimit, latencyMs])
}

/** A session that was ended, and the worker whose it was. */
export interface EndedSession {
  readonly workerId: string
  readonly pid: number
  /** As in `pg_stat_activity`: `idle in transaction`, or `active` in the middle of a COPY, say. */
  readonly state: string
  /** How long its transaction was open, in seconds. */
  readonly openS: number
}

/** Ends the sessions of workers taken for dead that hold a transaction open. A worker that wakes up does their work again. */
export async function endSessionsOfDead(database: Database): Promise<EndedSession[]> {
  const { rows } = await database.query(sql('workers/end-sessions'), [DEAD_AFTER_S])
  return rows.map(({ worker_id: workerId, pid, state, open_s: openS }) => ({
    workerId,
    pid,
    state,
    openS,
  }))
}

/** A worker ends; those that died long ago are forgotten too. */
export async function forgetWorker(database: Database, workerId: string): Promise<void> {
  await database.query(sql('workers/leave'), [workerId])
}
