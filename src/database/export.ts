import type { Readable } from 'node:stream'
import QueryStream from 'pg-query-stream'
import { z } from 'zod'
import type { Client, Database } from './pool.ts'
import * as statements from './statements/export.ts'

/** A column of something that can be exported; `type` is PostgreSQL's name, such as `timestamp with time zone`. */
const COLUMN = z.object({ name: z.string(), type: z.string() }).readonly()
export type ExportColumn = z.infer<typeof COLUMN>

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
  const objects = await statements.objects.all(database)
  return objects.map((each) => ({ ...each, columns: COLUMN.array().parse(each.columns) }))
}

/** Runs `work` on one picture of the database. @throws what `work` throws */
export async function withSnapshot<T>(
  database: Database,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const client = await database.connect()
  try {
    await statements.begin.run(client)
    const done = await work({
      ...(await statements.watermark.one(client)),
      knowsOrganization: async (organizationId) =>
        (await statements.knowsOrganization.one(client, { organizationId })).known,
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
