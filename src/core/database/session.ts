import pg from 'pg'
import { EnvironmentError } from '../../base/errors.ts'
import * as session from './statements/session.ts'

export interface SessionOptions {
  /** For the statements of others; ours name every schema. */
  readonly searchPath?: string | undefined
  /** The server refuses statements that write. */
  readonly readOnly?: boolean
}

/**
 * A pool's `onConnect`, which makes each new session the same, whatever its role, its database and the environment say.
 * @param options of the pool
 * @throws EnvironmentError, when a connection is opened, behind a pooler that does not keep a session for each client
 */
export function beginSession(
  options: pg.PoolConfig,
  { searchPath = 'public', readOnly = false }: SessionOptions,
): NonNullable<pg.PoolConfig['onConnect']> {
  let isHeld = false
  return async (connected) => {
    const client = connected as pg.PoolClient
    const { processID: processId } = connected as unknown as { processID: number }
    const isBegun = async () =>
      (await session.begin.run(client, { processId, isHeld, searchPath })) > 0
    if (!(await isBegun())) {
      isHeld = await holdsSessions(options)
      if (!isHeld) {
        const { host, port } = new pg.Client({ connectionString: options.connectionString })
        throw new EnvironmentError(
          `At ${host}:${port} is a pooler that gives each transaction another session (such as PgBouncer with pool_mode = transaction), and collab-sync needs sessions of its own: name the address of PostgreSQL itself, or of a pooler that pools sessions, in DATABASE_URL, and in QUEUE_DATABASE_URL for the queue.`,
        )
      }
      await isBegun()
    }
    if (readOnly) await client.query('set default_transaction_read_only = on')
  }
}

const QUERIES = 3

/** Queries the server process of two connections in turn: a pooler that keeps no sessions serves both by the one that was free last. */
async function holdsSessions(options: pg.PoolConfig): Promise<boolean> {
  const clients = [new pg.Client(options), new pg.Client(options)]
  const seen: (readonly [client: number, pid: number])[] = []
  try {
    for (const client of clients) {
      client.on('error', () => {})
      await client.connect()
    }
    for (let query = 0; query < QUERIES; query += 1)
      for (const [index, client] of clients.entries()) {
        const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
        seen.push([index, rows[0]?.pid ?? 0])
      }
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
  return (
    new Set(seen.map(([, pid]) => pid)).size === clients.length &&
    new Set(seen.map(String)).size === clients.length
  )
}
