import pg from 'pg'
import QueryStream from 'pg-query-stream'
import { EnvironmentError, UsageError } from '../errors.ts'
import { columnsFault, memberOfColumn, parseLine } from './lines.ts'
import type { CatalogSource, NumberedLine } from './lines.ts'

/**
 * A query of the user's own on a database of theirs, read with a cursor in a read-only transaction.
 * Its columns carry the catalog's names: `organizationId`, `organization_id` and `organizationid` are
 * the same. Null counts as absent; a value that is no text is taken as PostgreSQL writes it.
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
        types: { getTypeParser: () => (value: string) => value },
      })
      // A connection that is lost shows as an error of the query on it.
      client.on('error', () => {})
      await connect(client)
      try {
        await client.query('begin read only')
        yield* rowsOf(client, text)
      } finally {
        await client.end()
      }
    },
  }
}

/** Rows of one round trip of the cursor. */
const BATCH_ROWS = 2000

async function connect(client: pg.Client): Promise<void> {
  try {
    await client.connect()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new EnvironmentError(
      `The database in CATALOG_DATABASE_URL cannot be reached: ${message || code}.`,
      { cause: error },
    )
  }
}

async function* rowsOf(client: pg.Client, text: string): AsyncGenerator<NumberedLine> {
  const stream = client.query(new QueryStream(text, [], { batchSize: BATCH_ROWS }))
  let number = 0
  try {
    for await (const row of stream as AsyncIterable<Record<string, string | null>>) {
      number += 1
      const fault = number === 1 ? columnsFault(Object.keys(row)) : null
      if (fault !== null) {
        yield { number, complaint: fault }
        return
      }
      yield {
        number,
        ...parseLine(
          Object.fromEntries(
            Object.entries(row).map(([column, value]) => [memberOfColumn(column) ?? column, value]),
          ),
        ),
      }
    }
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    throw new UsageError(`CATALOG_SQL failed: ${error.message}.`, { cause: error })
  }
}
