import { EnvironmentError } from '../../base/errors.ts'
import { codeOf, describeDatabase, isConnectionLost } from './pool.ts'
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

/**
 * Runs `work`; where PostgreSQL is away or full, that is said in a sentence.
 * @throws EnvironmentError in place of a lost or refused connection; what else `work` throws
 */
export async function tellingAway<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isConnectionLost(error) ? awayError(database, error) : error
  }
}

function awayError(database: Database, error: unknown): EnvironmentError {
  // A host of several addresses gives one error that has a code and no message.
  const reason = (error as Error).message || codeOf(error)
  return new EnvironmentError(
    `PostgreSQL at ${describeDatabase(database)} cannot be asked: ${reason}. Try again in a moment.`,
    { cause: error },
  )
}
