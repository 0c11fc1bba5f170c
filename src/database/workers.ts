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

/** A worker ends; those that died long ago are forgotten too. */
export async function forgetWorker(database: Database, workerId: string): Promise<void> {
  await database.query(sql('workers/leave'), [workerId])
}
