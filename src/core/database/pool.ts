import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { Socket } from 'node:net'
import { addAbortSignal } from 'node:stream'
import pRetry from 'p-retry'
import pg from 'pg'
import { codeOf, isRefusal, noteOpeningError } from './connection-errors.ts'
import { beginSession } from './session.ts'
import type { SessionOptions } from './session.ts'

/** The connections of one process to the database of collab-sync. */
export type Database = pg.Pool

/** One connection, inside a transaction. */
export type Client = pg.PoolClient

const INT8_OID = 20
/** How long a caller waits for a connection. */
const CONNECT_MS = 15_000
/** How long a caller waits for a connection that others use before another one is opened. */
const OPEN_MORE_MS = 100

/**
 * Opens a pool. It connects with the first query, and opens another connection, one at a time, only if a caller has waited
 * for `OPEN_MORE_MS` (docs/decisions/2026-11-25-sessions.md). The loss of a connection never ends the process: the query on it
 * fails, and an idle one is replaced.
 * `bigint` comes as a number (our counts, and the service's ids up to 2^53 - 1), and a query that
 * returns a larger one fails rather than round it. `timestamptz` comes as a Date, `-infinity` as the
 * number -Infinity.
 * @param url `postgres://...`
 * @param options.max most connections at a time
 * @param options.min so many are opened without that wait, and stay open
 * @param options.signal breaks all its connections, also those that are being made, when it aborts
 * @param options.waitMs how long a caller waits for a server that has no free connection
 * @param options.applicationName what `pg_stat_activity` shows behind `collab-sync`, with eight digits that no other pool has
 * @param options.searchPath for the statements of others; ours name every schema
 */
export function openDatabase(
  url: string,
  options: {
    max?: number
    min?: number
    applicationName?: string
    signal?: AbortSignal | undefined
    waitMs?: number | undefined
    searchPath?: string
  } = {},
): Database {
  const { signal, max = 10, min = 0, waitMs, searchPath } = options
  const name = ['collab-sync', options.applicationName, randomBytes(4).toString('hex')]
  return new Pool(
    {
      connectionString: url,
      ...(signal && { stream: () => breakableSocket(signal) }),
      max,
      min,
      application_name: name.filter(Boolean).join(' '),
      connectionTimeoutMillis: CONNECT_MS,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 30_000,
      types: { getTypeParser: typeParser },
    },
    { searchPath },
    waitMs,
  )
}

/** More read-only connections to the same database: the server refuses statements that write. */
export function openReadOnly(database: Database): Database {
  return new Pool({ ...database.options, max: (database as Pool).most }, { readOnly: true })
}

/** A socket for one connection to PostgreSQL. It is destroyed when the signal aborts, also while it connects. */
function breakableSocket(signal: AbortSignal): Socket {
  const socket = new Socket()
  // Each connection of the process adds a listener: many are no leak.
  setMaxListeners(0, signal)
  // Only once it connects: pg would connect a socket that was destroyed before.
  setImmediate(() => addAbortSignal(signal, socket))
  return socket
}

/**
 * A pool whose callers wait for a connection of the server as they wait for one of the pool, up to `waitMs`: a server that
 * is full or starts up, or a pooler whose server is gone, refuses for a while. A refused password is waited for only where a
 * connection was opened before, since passwords are rotated. All errors of opening a connection count as
 * {@link isConnectionLost}.
 */
class Pool extends pg.Pool {
  /** Most connections; `options.max` is how many may be open now. */
  readonly most: number
  readonly #waitMs: number
  #hasOpened = false
  #isOpeningMore = false

  constructor(
    options: pg.PoolConfig & { max: number },
    session: SessionOptions,
    waitMs = CONNECT_MS,
  ) {
    const max = Math.max(1, options.min ?? 0)
    super({ ...options, max, onConnect: beginSession(options, session) })
    this.most = options.max
    this.#waitMs = waitMs
    this.on('remove', () => this.#openNoMore())
    // Without listeners the loss of a connection would be an uncaught exception, also while it is checked out but between two
    // queries. The next caller that uses the connection gets the error.
    this.on('error', () => {})
    this.on('connect', (client) => client.on('error', () => {}))
  }

  override connect(): Promise<Client>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<Client> | void {
    const connected = this.#open()
    if (callback === undefined) return connected
    connected.then(
      (client) => callback(undefined, client, (error) => client.release(error)),
      (error: Error) => callback(error, undefined, () => {}),
    )
  }

  async #open(): Promise<Client> {
    const waiting = setInterval(() => this.#openMore(), OPEN_MORE_MS)
    try {
      const client = await pRetry(() => super.connect(), {
        retries: Infinity,
        minTimeout: 200,
        maxTimeout: 1_000,
        maxRetryTime: this.#waitMs,
        randomize: true,
        shouldRetry: ({ error }) =>
          error instanceof pg.DatabaseError && (this.#hasOpened || !isRefusal(error)),
      })
      this.#hasOpened = true
      return client
    } catch (error) {
      noteOpeningError(error)
      throw error
    } finally {
      clearInterval(waiting)
    }
  }

  /** Opens one more connection for the callers that wait. If that fails, they continue to wait. */
  #openMore(): void {
    if (this.#isOpeningMore || this.waitingCount === 0 || this.totalCount < this.options.max) return
    if (this.options.max >= this.most) return
    this.#isOpeningMore = true
    this.options.max += 1
    super
      .connect()
      .then((client) => client.release())
      .catch(() => this.#openNoMore())
      .finally(() => (this.#isOpeningMore = false))
  }

  #openNoMore(): void {
    this.options.max = Math.max(1, this.options.min ?? 0, this.totalCount)
  }
}

type Connected = (
  error: Error | undefined,
  client: Client | undefined,
  release: (error?: Error | boolean) => void,
) => void

/**
 * Runs `work` in one transaction on one connection: committed when it resolves, rolled back when it
 * rejects. Deadlocks and serialization failures are tried again up to three times, so `work` must have
 * no effect outside the database.
 * @throws what `work` or the commit throws
 */
export async function transaction<T>(
  database: Database,
  work: (client: Client) => Promise<T>,
  end: End = 'commit',
): Promise<T> {
  return retryConflicts(async () => {
    const client = await database.connect()
    // After an error the connection is closed and not returned to the pool: it may be the reason.
    let failed = true
    try {
      const result = await transactionOn(client, () => work(client), end)
      failed = false
      return result
    } finally {
      client.release(failed)
    }
  })
}

/** How a transaction ends when its work resolves. */
type End = 'commit' | 'rollback'

/** As {@link transaction}, but rolled back in the end. */
export async function rolledBack<T>(
  database: Database,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  return transaction(database, work, 'rollback')
}

/** Repeats what ended in a deadlock or serialization failure, up to three times, after a short random wait. */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  return pRetry(work, {
    retries: 3,
    minTimeout: 20,
    randomize: true,
    shouldRetry: ({ error }) => ['40001', '40P01'].includes(codeOf(error) ?? ''),
  })
}

/** One transaction, tried once, on a connection that the caller holds; see {@link transaction}. */
export async function transactionOn<T>(
  client: Client,
  work: () => Promise<T>,
  end: End = 'commit',
): Promise<T> {
  await client.query('begin')
  try {
    const result = await work()
    await client.query(end)
    return result
  } catch (error) {
    // The first error has the reason; the rollback fails on a connection that is lost.
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/**
 * Runs a part of a transaction. If it fails, it is rolled back, and the rest of the transaction can continue.
 * @returns why it failed; null where it did not
 * @throws pg.DatabaseError or Error where the connection is lost
 */
export async function savepoint(
  client: Client,
  work: () => Promise<unknown>,
): Promise<{ error: unknown } | null> {
  await client.query('savepoint part')
  try {
    await work()
  } catch (error) {
    await client.query('rollback to savepoint part')
    return { error }
  }
  await client.query('release savepoint part')
  return null
}

function typeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (oid === INT8_OID && format !== 'binary') return safeNumber
  return pg.types.getTypeParser(oid, format as 'text') as (text: string) => unknown
}

function safeNumber(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is beyond 2^53 - 1.`)
  return value
}
