import { Readable } from 'node:stream'
import Cursor from 'pg-cursor'
import { z } from 'zod'
import { CHANGED_OBJECTS } from '../../base/columns.ts'
import { readChanges } from './changes.ts'
import type { Client, Database } from '../../core/database/pool.ts'
import { explainingLoss } from '../../core/database/connection-errors.ts'
import * as statements from '../../core/database/statements/export.ts'
import * as reports from '../../core/database/statements/reports.ts'

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
  /** From where on the feed of changes tells what came after the picture. */
  readonly cursor: string
  knowsOrganization(organizationId: string): Promise<boolean>
  /** @throws UsageError for what is no cursor; CursorGoneError for one that cannot be gone on from */
  checkCursor(after: string): Promise<void>
  /** Rows as PostgreSQL's own texts, null for null, in the order of the columns. */
  rows(object: ExportObject, where: ExportFilter): Readable
  /**
   * Rows of what {@link copyOf} gives: all of them, or once each of those that changed behind a cursor, as they are now.
   * Of those that are gone the key.
   */
  copyRows(copy: CopyObject, where: CopyFilter): Readable
}

/** Null where it does not narrow. */
export interface ExportFilter {
  readonly organizationId: string | null
  readonly since: Date | null
}

/** A view of `collab` that the feed of changes tells of, with the columns of a copy of it. */
export interface CopyObject extends ExportObject {
  /** As the feed names it. */
  readonly changed: (typeof CHANGED_OBJECTS)[number]
}

export interface CopyFilter {
  readonly organizationId: string | null
  /** A cursor of the feed; null for all rows. */
  readonly after: string | null
}

/** Rows that one round trip brings. */
const ROWS_A_FETCH = 1000

/** Everything that can be exported. */
export async function readExportObjects(database: Database): Promise<ExportObject[]> {
  const relations = await reports.dictionaryRelations.all(database, {
    schemas: ['collab', 'reporting'],
  })
  return relations
    .filter(({ kind }) => kind !== 'type')
    .map(({ schema, name, columns }) => ({ schema, name, columns: COLUMN.array().parse(columns) }))
}

const PERSON: ExportColumn = { name: 'person', type: 'uuid' }
const IS_GONE: ExportColumn = { name: 'is_gone', type: 'boolean' }
const CATALOG = ['organization', 'document', 'annotation', 'user_group']
const OF_PEOPLE = ['user', 'document_user', 'user_group_member']

/**
 * What a copy of an object has that follows the feed of changes: its columns without those of which the feed says nothing,
 * of people `person`, by which the feed names them, and `is_gone`. Null for what the feed does not tell of.
 */
export function copyOf(object: ExportObject): CopyObject | null {
  const changed = CHANGED_OBJECTS.find((each) => `${each}s` === object.name)
  if (object.schema !== 'collab' || changed === undefined) return null
  // The first two change each night; and with the catalog, which the lines of what it lists tell, all that is in it.
  // A removal that is held or refused changes no row.
  const leftOut = [
    'checked_at',
    'is_stale',
    'removal_held_since',
    'removal_refused_at',
    ...(CATALOG.includes(changed) ? [] : ['in_catalog']),
  ]
  const kept = object.columns.filter(({ name }) => ![...leftOut, PERSON.name].includes(name))
  const person = OF_PEOPLE.includes(changed) ? [PERSON] : []
  return { ...object, changed, columns: [...kept, ...person, IS_GONE] }
}

/**
 * Runs `work` on one picture of the database.
 * @throws EnvironmentError where PostgreSQL is away; what `work` throws
 */
export async function withSnapshot<T>(
  database: Database,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  return explainingLoss(database, async () => {
    const client = await database.connect()
    try {
      await statements.begin.run(client)
      const watermark = await statements.watermark.one(client)
      const done = await work({
        ...watermark,
        knowsOrganization: async (organizationId) =>
          (await statements.knowsOrganization.one(client, { organizationId })).known,
        checkCursor: async (after) =>
          void (await readChanges(client, { after, max: 1, objects: [] })),
        rows: (object, where) => streamRows(client, object, where),
        copyRows: (copy, where) => streamCopy(client, copy, { ...where, until: watermark.cursor }),
      })
      await client.query('commit')
      return done
    } finally {
      // A reader that went away leaves a statement under way: the connection is closed, not given back.
      client.release(true)
    }
  })
}

function streamRows(client: Client, object: ExportObject, where: ExportFilter): Readable {
  const conditions: string[] = []
  const values: unknown[] = []
  if (where.organizationId !== null) {
    conditions.push(`organization_id = $${values.push(where.organizationId)}`)
  }
  if (where.since !== null) conditions.push(`changed_at >= $${values.push(where.since)}`)
  const columns = object.columns.map(({ name, type }) => selected(quoted(name), type)).join(', ')
  const filter = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`
  return stream(client, `select ${columns} from ${placeOf(object)}${filter}`, values)
}

/** @param where.until the picture's cursor: asked again, the feed may end before it, and the next export begins there */
function streamCopy(
  client: Client,
  copy: CopyObject,
  where: CopyFilter & { readonly until: string },
): Readable {
  const place = placeOf(copy)
  const values: unknown[] = [where.organizationId]
  let [person, isGone, distinct, order] = ['v.person', 'false', '', '']
  let from = `${place} v`
  if (where.after !== null) {
    // Each line of a row has it as it is in this picture, so that any one of them will do.
    distinct = 'distinct on (l.key::text, l.person)'
    order = ' order by l.key::text, l.person'
    ;[person, isGone] = ['l.person', 'l.row is null']
    const lines = `reporting.changes_as_json($${values.push(where.after)}, 2147483647, array[$${values.push(copy.changed)}], $${values.push(where.until)}) l`
    from = `${lines} join lateral jsonb_populate_record(null::${place}, coalesce(l.row, l.key)::jsonb) v on l.key is not null`
  } else if (OF_PEOPLE.includes(copy.changed) && copy.changed !== 'user') {
    person = 'u.person'
    from += ' left join collab.users u using (organization_id, user_id)'
  }
  const computed: Record<string, string> = { person, is_gone: isGone }
  const columns = copy.columns.map(
    ({ name, type }) => computed[name] ?? selected(`v.${quoted(name)}`, type),
  )
  const text = `select ${distinct} ${columns.join(', ')} from ${from} where $1::text is null or v.organization_id = $1${order}`
  return stream(client, text, values)
}

function stream(client: Client, text: string, values: unknown[]): Readable {
  const types = { getTypeParser: () => (value: string) => value }
  const cursor = client.query(new Cursor<unknown[]>(text, values, { rowMode: 'array', types }))
  // pg-query-stream waits at its end until the server has closed the cursor: for ever where the connection is lost.
  return new Readable({
    objectMode: true,
    read() {
      cursor.read(ROWS_A_FETCH, (error, rows) => {
        if (error) this.destroy(error)
        else if (rows.length === 0) this.push(null)
        else for (const row of rows) this.push(row)
      })
    },
    destroy(error, done) {
      cursor.close(() => {})
      done(error)
    },
  })
}

/** Lists have no text that others read: they become JSON. */
function selected(column: string, type: string): string {
  return type.endsWith('[]') ? `to_jsonb(${column})` : column
}

function placeOf({ schema, name }: ExportObject): string {
  return `${quoted(schema)}.${quoted(name)}`
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
