import pg from 'pg'
import type Cursor from 'pg-cursor'
import { openingReason } from '../../core/database/connection-errors.ts'
import { EnvironmentError, UsageError } from '../../base/errors.ts'
import { columnsFault, parseCells } from './lines.ts'
import type { CatalogSource, NumberedLine } from './lines.ts'

/**
 * The rows of CATALOG_SQL, read with a cursor in a read-only transaction on CATALOG_DATABASE_URL. Columns have the names of
 * catalog lines: `organizationId`, `organization_id` and `organizationid` are equal. Null counts as absent. Values of other types
 * than text are converted as PostgreSQL does. Padding of `char(n)` is removed.
 */
export function querySource(url: string, text: string): CatalogSource {
  return {
    name: 'CATALOG_SQL',
    unit: 'row',
    async *lines() {
      const client = new pg.Client({
        connectionString: url,
        application_name: 'collab-sync catalog',
        connectionTimeoutMillis: 15_000,
        keepAlive: true,
        // Detects a broken connection within minutes.
        keepAliveInitialDelayMillis: 30_000,
        types: { getTypeParser: (oid) => (oid === CHAR_OID ? withoutPadding : asIs) },
      })
      // The read on the connection reports the error.
      client.on('error', () => {})
      try {
        await connected(client.connect(), 'cannot be reached', (error) =>
          openingReason(error, 'CATALOG_DATABASE_URL'),
        )
        await connected(client.query('begin read only'), 'cannot be read')
        yield* rowsOf(client, text)
      } finally {
        await client.end()
      }
    },
  }
}

/** `char(n)`, or a domain of it. */
const CHAR_OID = 1042
const asIs = (value: string) => value
const withoutPadding = (value: string) => value.replace(/ +$/, '')

const BATCH_ROWS = 2000

/** @throws EnvironmentError if the server does not respond */
async function connected<T>(
  requested: Promise<T>,
  what: string,
  reasonOf: (error: unknown) => string = messageOf,
): Promise<T> {
  try {
    return await requested
  } catch (error) {
    throw new EnvironmentError(`The database in CATALOG_DATABASE_URL ${what}: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}

function messageOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return `${message || code}.`
}

/** Uses a cursor instead of a stream: at its end, a stream waits for a response, forever if the connection is lost. */
async function* rowsOf(client: pg.Client, text: string): AsyncGenerator<NumberedLine> {
  const { default: Cursor } = await import('pg-cursor')
  const cursor = client.query(new Cursor<Record<string, string | null>>(text))
  for (let number = 0; ;) {
    const rows = await readSome(cursor)
    if (rows.length === 0) return
    for (const row of rows) {
      number += 1
      const fault = number === 1 ? columnsFault(Object.keys(row)) : null
      if (fault !== null) {
        yield { number, complaint: fault }
        return
      }
      yield { number, ...parseCells(Object.entries(row)) }
    }
  }
}

async function readSome<Row>(cursor: Cursor<Row>): Promise<Row[]> {
  try {
    return await cursor.read(BATCH_ROWS)
  } catch (error) {
    // An error of the query, and not a shutdown of the server or a terminated connection (57P).
    const isFault = error instanceof pg.DatabaseError && !error.code?.startsWith('57P')
    if (!isFault) return connected(Promise.reject(error), 'became unreachable')
    throw new UsageError(`CATALOG_SQL failed: ${error.message}.`, { cause: error })
  }
}
