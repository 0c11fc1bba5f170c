import pg from 'pg'
import type Cursor from 'pg-cursor'
import { openingReason } from '../../core/database/connection-errors.ts'
import { EnvironmentError, UsageError } from '../../base/errors.ts'
import { columnsFault, parseCells } from './lines.ts'
import type { CatalogSource, NumberedLine } from './lines.ts'

/**
 * A query of the user's own on a database of theirs, read with a cursor in a read-only transaction.
 * Its columns carry the catalog's names: `organizationId`, `organization_id` and `organizationid` are
 * the same. Null counts as absent; a value that is no text is taken as PostgreSQL writes it. The blanks with which
 * PostgreSQL pads a `char(n)` are not part of an id.
 * @param url `postgres://...` of that database (CATALOG_DATABASE_URL)
 * @param text one statement (CATALOG_SQL)
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
        // A server that is cut off shows within minutes.
        keepAliveInitialDelayMillis: 30_000,
        types: { getTypeParser: (oid) => (oid === CHAR_OID ? withoutPadding : asIs) },
      })
      // A connection that is lost shows as an error of the read on it.
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

/** `char(n)`, also below a domain. */
const CHAR_OID = 1042
const asIs = (value: string) => value
const withoutPadding = (value: string) => value.replace(/ +$/, '')

/** Rows of one round trip of the cursor. */
const BATCH_ROWS = 2000

/** @throws EnvironmentError where the server does not answer */
async function connected<T>(
  asked: Promise<T>,
  what: string,
  reasonOf: (error: unknown) => string = messageOf,
): Promise<T> {
  try {
    return await asked
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

/**
 * The rows, by a cursor and not by a stream of one: a stream waits at its end for the server's answer, for ever where the
 * connection is lost.
 */
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
    // What the server says of the query; not that it is stopping, or was told to end the connection.
    const isFault = error instanceof pg.DatabaseError && !error.code?.startsWith('57P')
    if (!isFault) return connected(Promise.reject(error), 'went away')
    throw new UsageError(`CATALOG_SQL failed: ${error.message}.`, { cause: error })
  }
}
