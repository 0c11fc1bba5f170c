import pg from 'pg'
import { EnvironmentError, UsageError } from '../../base/errors.ts'

/** The oldest PostgreSQL that is supported, 14. */
const OLDEST_SERVER = 140_000

/**
 * Connects once and checks whether the server can hold our tables.
 * @throws UsageError where the server refuses what DATABASE_URL says, so that waiting does not help; EnvironmentError for
 *   everything else. Both name host, port, database and what to do, never the password
 */
export async function checkDatabase(database: pg.Pool): Promise<void> {
  const place = describeDatabase(database)
  const { rows } = await database
    .query<{ version: number; name: string; encoding: string }>(
      `select current_setting('server_version_num')::int as version,
        current_setting('server_version') as name, current_setting('server_encoding') as encoding`,
    )
    .catch((error: unknown) => {
      throw openingFault(database, error)
    })
  const [server] = rows
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
  database: pg.Pool,
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
      `${message}. Is DATABASE_URL right, and does PostgreSQL respond there?`)
  return reason.replaceAll('DATABASE_URL', setting)
}

/** Whether a person has to correct the settings or the server first. */
export function isRefusal(error: unknown): boolean {
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
export function describeDatabase(database: pg.Pool): string {
  const { connectionString } = database.options
  const client = new pg.Client({ connectionString })
  return `${client.host}:${client.port}, database ${client.database}`
}

/**
 * Runs `work`, and explains in a sentence when PostgreSQL is unreachable or full.
 * @throws EnvironmentError instead of a lost or refused connection; what else `work` throws
 */
export async function explainingLoss<T>(database: pg.Pool, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isConnectionLost(error)) throw error
    // A host of several addresses gives one error that has a code and no message.
    const reason = (error as Error).message || codeOf(error)
    throw new EnvironmentError(
      `PostgreSQL at ${describeDatabase(database)} cannot be queried: ${reason}. Try again in a moment.`,
      { cause: error },
    )
  }
}

/** Errors of connections that could not be opened. */
const openingErrors = new WeakSet<object>()

/** Remembers an error as one of opening a connection, for {@link isConnectionLost}. */
export function noteOpeningError(error: unknown): void {
  if (!(error instanceof EnvironmentError)) openingErrors.add(error as Error)
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
  EAI_AGAIN: 'the host name could not be resolved. Is the network up?',
  ETIMEDOUT: 'it does not respond. Is DATABASE_URL right, and does a firewall allow it?',
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
    'it does not support TLS, which DATABASE_URL requires. Turn TLS on there, or set sslmode=disable.',
  TLS_REQUIRED:
    'its pg_hba.conf has no entry for this user and host without TLS. Add sslmode=require to DATABASE_URL.',
}

/** Codes of a certificate whose authority is not known. */
const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/
