import type { Database } from './pool.ts'
import { sql } from './sql.ts'

/** The server behind a database, and what our role may do in it. */
export interface Server {
  readonly version: string
  readonly role: string
  readonly mayCreateSchemas: boolean
  /** Of the database, for a person, such as `12 MB`. */
  readonly size: string
  /** How far this machine's clock is ahead of the server's, in milliseconds; negative where it is behind. */
  readonly clockAheadMs: number
}

/** Asks the server what it is. The clocks are compared at the middle of the round trip. */
export async function describeServer(database: Database): Promise<Server> {
  // The first query also connects, which would count as a slow round trip.
  await database.query(sql('server/describe'))
  const sentAtMs = Date.now()
  const { rows } = await database.query(sql('server/describe'))
  const middleMs = (sentAtMs + Date.now()) / 2
  const row = rows[0]
  return {
    version: row.version,
    role: row.role,
    mayCreateSchemas: row.may_create_schemas,
    size: row.size,
    clockAheadMs: Math.round(middleMs - row.clock.getTime()),
  }
}

/** Whether BullMQ's own schema is in this database. */
export async function hasQueue(database: Database): Promise<boolean> {
  const { rows } = await database.query(sql('server/has-queue'))
  return rows[0].has_queue
}
