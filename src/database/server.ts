import type { Database } from './pool.ts'
import type { RowOf } from './statement.ts'
import * as server from './statements/server.ts'

/** The server behind a database, and what our role may do in it; `size` is the database's, such as `12 MB`. */
export type Server = Omit<RowOf<typeof server.describe>, 'clock'> & {
  /** How far this machine's clock is ahead of the server's, in milliseconds; negative where it is behind. */
  readonly clockAheadMs: number
}

/** Asks the server what it is. The clocks are compared at the middle of the round trip. */
export async function describeServer(database: Database): Promise<Server> {
  // The first query also connects, which would count as a slow round trip.
  await server.describe.run(database)
  const sentAtMs = Date.now()
  const { clock, ...said } = await server.describe.one(database)
  const middleMs = (sentAtMs + Date.now()) / 2
  return { ...said, clockAheadMs: Math.round(middleMs - clock.getTime()) }
}
