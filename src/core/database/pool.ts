import { randomBytes } from 'node:crypto'
import pRetry from 'p-retry'
import pg from 'pg'
import { EnvironmentError, UsageError } from '../../base/errors.ts'
import { breakableSocket } from './breakable-socket.ts'
import { beginSession } from './session.ts'
import type { SessionOptions } from './session.ts'

/** The connections of one process to the database of collab-sync. */
export type Database = pg.Pool

/** One connection, inside a transaction. */
export type Client = pg.PoolClient

const OLDEST_SERVER = 140_000
const INT8_OID = 20
/** How long a caller waits for a connection. */
const CONNECT_MS = 15_000
/** How long a caller waits for a connection that others use before another one is opened. */
const OPEN_MORE_MS = 100

/**
 * Opens a pool. It connects with the first query, and opens another connection, one at a time, only where a caller has waited
 * for one for a tenth of a second: a session costs PostgreSQL as much as hundreds of small statements. The loss of a connection never ends the
 * process: the query on it fails, and an idle one is replaced.
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
    waitMs?: number
    searchPath?: string
  } = {},
): Database {
  const { signal, waitMs, searchPath } = options
  return openWith(
    {
      connectionString: url,
      ...(signal && { stream: () => breakableSocket(signal) }),
      max: options.max ?? 10,
      min: options.min ?? 0,
      application_name: ['collab-sync', options.applicationName, randomBytes(4).toString('hex')]
        .filter(Boolean)
        .join(' '),
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

function openWith(
  options: pg.PoolConfig & { max: number },
  session: SessionOptions,
  waitMs?: number,
): Database {
  const pool = new Pool({ ...options, onConnect: beginSession(options, session) }, waitMs)
  // Without listeners a dead connection would be an uncaught exception, also while it is checked out
  // but between two queries. Whoever uses it next gets the error.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Errors of connections that could not be opened. */
const openingErrors = new WeakSet<object>()

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

  constructor(options: pg.PoolConfig & { max: number }, waitMs = CONNECT_MS) {
    super({ ...options, max: Math.max(1, options.min ?? 0) })
    this.most = options.max
    this.#waitMs = waitMs
    this.on('remove', () => this.#openNoMore())
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
      if (!(error instanceof EnvironmentError)) openingErrors.add(error as Error)
      throw error
    } finally {
      clearInterval(waiting)
    }
  }

  /** Opens one connection more for those who wait; where that fails, they wait on. */
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

/** More connections to the same database, for reading only: the server refuses whatever would write. */
export function openReadOnly(database: Database): Database {
  return openWith({ ...database.options, max: (database as Pool).most }, { readOnly: true })
}

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
    // After an error the connection is closed rather than given back: it may be the reason.
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

/** What a transaction ends with where its work resolves; rolled back, whatever it wrote was never there. */
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
    // The first error tells more than that of a rollback on a connection that is gone.
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/**
 * Runs a part of a transaction. Where it fails, what it did is rolled back, and the rest of the transaction can continue.
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

/**
 * Connects once and checks whether the server can hold our tables.
 * @throws UsageError where the server refuses what DATABASE_URL says, so that waiting does not help; EnvironmentError for
 *   everything else. Both name host, port, database and what to do, never the password
 */
export async function checkDatabase(database: Database): Promise<void> {
  const place = describeDatabase(database)
  let server: { version: number; name: string; encoding: string } | undefined
  try {
    const { rows } = await database.query<{ version: number; name: string; encoding: string }>(
      `select current_setting('server_version_num')::int as version,
        current_setting('server_version') as name, current_setting('server_encoding') as encoding`,
    )
    server = rows[0]
  } catch (error) {
    throw openingFault(database, error)
  }
  if (server === undefined || server.version < OLDEST_SERVER)
    throw new EnvironmentError(
      `PostgreSQL at ${place} is version ${server?.name}; collab-sync needs 14 or newer.`,
    )
  if (server.encoding !== 'UTF8')
    throw new EnvironmentError(
      `The database at ${place} has the encoding ${server.encoding}; collab-sync needs one with UTF8.`,
    )
}

/**
 * Says in a sentence why no connection could be opened.
 * @param setting that holds the address
 * @returns a UsageError where the settings or the server must be corrected first; else an EnvironmentError
 */
export function openingFault(
  database: Database,
  error: unknown,
  setting = 'DATABASE_URL',
): EnvironmentError | UsageError {
  if (error instanceof EnvironmentError) return error
  const Fault = isRefusal(error) ? UsageError : EnvironmentError
  const reason = openingReason(error, setting)
  return new Fault(`PostgreSQL at ${describeDatabase(database)}: ${reason}`, { cause: error })
}

/** Why no connection could be opened and what to do, in sentences, the first of which begins in lower case. @param setting see openingFault */
export function openingReason(error: unknown, setting: string): string {
  const cause = causeOf(error)
  const message = (error as Error).message || cause
  const reason = UNTRUSTED.test(cause)
    ? `its certificate cannot be verified (${message}). Name the certificate of its authority in DATABASE_URL (sslrootcert=FILE), or accept any certificate (sslmode=no-verify).`
    : (REFUSALS[cause] ??
      REASONS[cause] ??
      `${message}. Is DATABASE_URL right, and does PostgreSQL answer there?`)
  return reason.replaceAll('DATABASE_URL', setting)
}

/** Whether a person has to correct the settings or the server first. */
function isRefusal(error: unknown): boolean {
  const cause = causeOf(error)
  return UNTRUSTED.test(cause) || cause in REFUSALS
}

/** A key of REASONS or REFUSALS, or another code. */
function causeOf(error: unknown): string {
  const { message } = error as Error
  const code = codeOf(error) ?? ''
  if (/does not support SSL/.test(message)) return 'TLS_MISSING'
  return code === '28000' && /no encryption|SSL off/.test(message) ? 'TLS_REQUIRED' : code
}

/** Host, port and database for a person, without user and password. */
export function describeDatabase(database: Database): string {
  const { connectionString } = database.options
  const client = new pg.Client({ connectionString })
  return `${client.host}:${client.port}, database ${client.database}`
}

/**
 * Whether an error says that PostgreSQL cannot be reached now, so that the same may succeed later: the connection could not be
 * opened, or was lost (PostgreSQL documentation, Error Codes, classes 08 and 57P). The severity `FATAL` finds what poolers say
 * under other codes; PostgreSQL translates it (`lc_messages`), poolers do not.
 */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (openingErrors.has(error) || (error as { severity?: unknown }).severity === 'FATAL')
    return true
  return LOST_CODE.test(codeOf(error) ?? '') || /connection (terminated|error)/i.test(error.message)
}

const LOST_CODE =
  /^(08...|57P0[1-5]|ECONN.*|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/

/**
 * Whether an error lies in what was to be read or stored, so that it comes again with the same data: any but those that
 * speak of the server, the connection, the rights, the schema or other transactions (Error Codes; a code without digits is
 * the system's).
 */
export function isDataFault(error: unknown): boolean {
  if (isConnectionLost(error)) return false
  const code = codeOf(error)
  if (code === undefined) return error instanceof Error && !error.name.endsWith('AbortError')
  return /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code)
    ? !/^(0A|25|26|28|3D|3F|40|42|53|55|57|58|F0|XX00[12])/.test(code)
    : code.startsWith('ERR_') && !/STREAM|SSL|TLS|SOCKET/.test(code)
}

/** The SQLSTATE or system code of an error, if it has one. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there. Is it running, and is DATABASE_URL right?',
  ENOTFOUND: 'there is no such host. Is DATABASE_URL right?',
  EAI_AGAIN: 'the name of the host could not be looked up. Is the network up?',
  ETIMEDOUT: 'it does not answer. Is DATABASE_URL right, and does a firewall allow it?',
  CERT_HAS_EXPIRED: 'its certificate has expired. Renew it there.',
  '53300': 'it has no connection left. Raise its max_connections, or run fewer processes.',
  '57P03': 'it is starting up or shutting down. Try again in a moment.',
}

/** Refusals that stay until a person corrects the settings or the server. */
const REFUSALS: Record<string, string> = {
  '28P01': 'it refuses the user or the password in DATABASE_URL. Correct them.',
  '28000': 'it refuses the user in DATABASE_URL. Correct it, or see its pg_hba.conf.',
  '3D000': 'there is no such database. Create it, or correct DATABASE_URL.',
  '42501':
    'the user in DATABASE_URL may not connect to this database. Grant it: grant connect on database … to …',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is that of another host. Name a host of the certificate in DATABASE_URL, or compare its authority alone (sslmode=verify-ca with sslrootcert=FILE).',
  TLS_MISSING:
    'it does not support TLS, which DATABASE_URL asks for. Turn TLS on there, or set sslmode=disable.',
  TLS_REQUIRED:
    'its pg_hba.conf has no entry for this user and host without TLS. Add sslmode=require to DATABASE_URL.',
}

/** Codes of a certificate whose authority is not known. */
const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/

function typeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (oid === INT8_OID && format !== 'binary') return safeNumber
  return pg.types.getTypeParser(oid, format as 'text') as (text: string) => unknown
}

function safeNumber(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is beyond 2^53 - 1.`)
  return value
}
