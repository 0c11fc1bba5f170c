import { escapeIdentifier } from 'pg'
import Cursor from 'pg-cursor'
import { CHANGED_OBJECTS } from '../../base/columns.ts'
import type { Client, Database } from '../../core/database/pool.ts'
import { explainingLoss } from '../../core/database/connection-errors.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as statements from '../../core/database/statements/export.ts'
import * as reports from '../../core/database/statements/reports.ts'
import { RELATION } from './dictionary/dictionary.ts'
import type { Column } from './dictionary/dictionary.ts'

/** `type` is PostgreSQL's name, such as `timestamp with time zone`. */
export type ExportColumn = Pick<Column, 'name' | 'type'>

/** A table or view of the schemas `collab` and `reporting`. */
export interface ExportObject {
  readonly schema: string
  readonly name: string
  readonly columns: readonly ExportColumn[]
  /** Its name in the feed of changes, if the export is for a copy that follows the feed. */
  readonly changed?: (typeof CHANGED_OBJECTS)[number]
}

export interface ExportFilter {
  /** Null for all organizations. */
  readonly organizationId: string | null
  /** Null for rows of any `changed_at`. */
  readonly since: Date | null
  /**
   * For a copy that follows the feed of changes: the cursor after which rows have changed, or null for all rows. Without it,
   * the object is exported with the columns that the feed leaves out.
   */
  readonly after?: string | null
}

/** Rows as PostgreSQL's texts, in the order of the columns. */
export type ExportRows = AsyncIterable<(string | null)[]>

/** One consistent snapshot of the database, read through one connection. */
export interface Snapshot extends RowOf<typeof statements.watermark> {
  readonly client: Client
}

/** Rows of one round trip. */
const ROWS_A_FETCH = 1000

/** All tables and views that can be exported. */
export async function readExportObjects(database: Database): Promise<ExportObject[]> {
  const schemas = ['collab', 'reporting']
  const relations = await reports.dictionaryRelations.all(database, { schemas })
  return relations.map((row) => RELATION.parse(row)).filter(({ kind }) => kind !== 'type')
}

const PERSON: ExportColumn = { name: 'person', type: 'uuid' }
const IS_GONE: ExportColumn = { name: 'is_gone', type: 'boolean' }
/** The views that have a row for each comment or version, so that they join each to its annotation, document and author. */
const COMMENT_VIEWS = [
  'collab.comments',
  'collab.comment_versions',
  'reporting.comments',
  'reporting.comments_with_deleted',
  'reporting.comment_history',
]
const CATALOG = ['organization', 'document', 'annotation', 'user_group']
const MEMBERSHIPS = ['document_user', 'user_group_member']

/**
 * An object as a copy has it that follows the feed of changes: without the columns that the feed leaves out, with `is_gone`,
 * and with `person`, by which the feed identifies people. Null for an object that is not in the feed.
 */
export function copyOf(object: ExportObject): ExportObject | null {
  const changed = CHANGED_OBJECTS.find((each) => `${each}s` === object.name)
  if (object.schema !== 'collab' || changed === undefined) return null
  // The first two change every night, and a held or refused removal changes no row. The rows of the catalog report for all
  // that they contain whether it is in the catalog.
  const leftOut = [
    'checked_at',
    'is_stale',
    'removal_held_since',
    'removal_refused_at',
    ...(CATALOG.includes(changed) ? [] : ['in_catalog']),
  ]
  const kept = object.columns.filter(({ name }) => !leftOut.includes(name))
  const person = MEMBERSHIPS.includes(changed) ? [PERSON] : []
  return { ...object, changed, columns: [...kept, ...person, IS_GONE] }
}

/**
 * Runs `work` with one snapshot of the database.
 * @throws EnvironmentError if PostgreSQL is unreachable; what `work` throws
 */
export async function withSnapshot<T>(
  database: Database,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  return explainingLoss(database, async () => {
    const client = await database.connect()
    try {
      await statements.begin.run(client)
      const done = await work({ ...(await statements.watermark.one(client)), client })
      await client.query('commit')
      return done
    } finally {
      // A reader that closed its pipe leaves a statement in progress, so the connection is closed.
      client.release(true)
    }
  })
}

/** The rows of an object, or each row once that changed after a cursor, as it is now. A removed row has only its key. */
export async function* streamRows(
  { client, cursor: until }: Snapshot,
  { schema, name, columns, changed }: ExportObject,
  { organizationId, since, after = null }: ExportFilter,
): AsyncGenerator<(string | null)[]> {
  const values: unknown[] = []
  const parameter = (value: unknown) => `$${values.push(value)}`
  const table = `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`
  const computed: Record<string, string> = {}
  let [from, distinct, order] = [`${table} v`, '', '']
  if (changed !== undefined) computed['is_gone'] = 'false'
  if (changed !== undefined && after !== null) {
    // The feed has the row as it is in this snapshot in each change of it, so any of them will do. It ends at the cursor of
    // the snapshot: read again, its end may be earlier, and the next export begins there.
    distinct = 'distinct on (l.key::text, l.person)'
    order = 'order by l.key::text, l.person'
    Object.assign(computed, { person: 'l.person', is_gone: 'l.row is null' })
    const feed = `reporting.changes_as_json(${parameter(after)}, 2147483647, array[${parameter(changed)}], ${parameter(until)}) l`
    from = `${feed} join lateral jsonb_populate_record(null::${table}, coalesce(l.row, l.key)::jsonb) v on l.key is not null`
  } else if (changed !== undefined && MEMBERSHIPS.includes(changed)) {
    computed['person'] = 'u.person'
    from += ' left join collab.users u using (organization_id, user_id)'
  }
  const selected = columns.map(({ name: column, type }) => {
    const value = computed[column] ?? `v.${escapeIdentifier(column)}`
    // Arrays have no text that other programs read.
    return type.endsWith('[]') ? `to_jsonb(${value})` : value
  })
  const conditions = [
    'true',
    ...(organizationId === null ? [] : [`v.organization_id = ${parameter(organizationId)}`]),
    ...(since === null ? [] : [`v.changed_at >= ${parameter(since)}`]),
  ]
  const text = `select ${distinct} ${selected.join(', ')} from ${from} where ${conditions.join(' and ')} ${order}`
  const types = { getTypeParser: () => (value: string) => value }
  if (after === null && COMMENT_VIEWS.includes(`${schema}.${name}`))
    await statements.joinByRow.run(client)
  const cursor = client.query(
    new Cursor<(string | null)[]>(text, values, { rowMode: 'array', types }),
  )
  try {
    for (;;) {
      const rows = await cursor.read(ROWS_A_FETCH)
      if (rows.length === 0) return
      yield* rows
    }
  } finally {
    // It never closes on a lost connection.
    cursor.close(() => {})
  }
}
