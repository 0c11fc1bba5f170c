import type { Readable } from 'node:stream'
import QueryStream from 'pg-query-stream'
import type { Client, Database } from './pool.ts'
import { sql } from './sql.ts'

/** A column of something that can be exported. */
export interface ExportColumn {
  readonly name: string
  /** PostgreSQL's name of the type, such as `timestamp with time zone`. */
  readonly type: string
}

/** A table or view of the schemas `collab` and `reporting`. */
export interface ExportObject {
  readonly schema: string
  readonly name: string
  readonly columns: readonly ExportColumn[]
}

/** One consistent picture of the database, read by one connection. */
export interface Snapshot {
  readonly takenAt: Date
  /** From when on the next export has to look so that nothing is missed. */
  readonly nextSince: Date
  knowsOrganization(organizationId: string): Promise<boolean>
  /** Rows as PostgreSQL's own texts, null for null, in the order of the columns. */
  rows(object: ExportObject, where: ExportFilter): Readable
}

/** Null where it does not narrow. */
export interface ExportFilter {
  readonly organizationId: string | null
  readonly since: Date | null
}

/** Rows that one round trip brings. */
const ROWS_A_FETCH = 1000

/** Everything that can be exported. */
export async function readExportObjects(database: Database): Promise<ExportObject[]> {
  const { rows } = await database.query(sql('export/objects'))
  return rows
}

/** Runs `work` on one picture of the database. @throws what `work` throws */
export async function withSnapshot<T>(
  database: Database,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const client = await database.connect()
  try {
    await client.query(sql('export/begin'))
    const { rows } = await client.query(sql('export/watermark'))
    const done = await work({
      takenAt: rows[0].taken_at,
      nextSince: rows[0].next_since,
      async knowsOrganization(organizationId) {
        const known = await client.query(sql('export/knows-organization'), [organizationId])
        return known.rows[0].known
      },
      rows: (object, where) => streamRows(client, object, where),
    })
    await client.query('commit')
    return done
  } finally {
    // A reader that went away leaves a statement under way: the connection is closed, not given back.
    client.release(true)
  }
}

function streamRows(client: Client, object: ExportObject, where: ExportFilter): Readable {
  const conditions: string[] = []
  const values: unknown[] = []
  if (where.organizationId !== null) {
    conditions.push(`organization_id = $${values.push(where.organizationId)}`)
  }
  if (where.since !== null) conditions.push(`changed_at >= $${values.push(where.since)}`)
  const columns = object.columns.map(selected).join(', ')
  const filter = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`
  const text = `select ${columns} from ${quoted(object.schema)}.${quoted(object.name)}${filter}`
  const config = {
    batchSize: ROWS_A_FETCH,
    rowMode: 'array',
    types: { getTypeParser: () => (value: string) => value },
  }
  return client.query(new QueryStream(text, values, config as never))
}

/** Lists have no text that others read: they become JSON. */
function selected({ name, type }: ExportColumn): string {
  return type.endsWith('[]') ? `to_jsonb(${quoted(name)})` : quoted(name)
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
