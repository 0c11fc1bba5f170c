import type { Database } from '../database/pool.ts'
import { sql } from '../database/sql.ts'

/** What the database itself says of the tables that people query. */
export interface Dictionary {
  readonly schemas: readonly { readonly name: string; readonly comment: string | null }[]
  readonly relations: readonly Relation[]
  readonly functions: readonly DatabaseFunction[]
}

export interface Relation {
  readonly schema: string
  readonly name: string
  readonly kind: 'table' | 'view' | 'type'
  /** Without the sentence that names the key of a view. */
  readonly comment: string | null
  readonly columns: readonly Column[]
  /** Column names; empty where no column or columns are unique. */
  readonly key: readonly string[]
  readonly references: readonly Reference[]
}

export interface Column {
  readonly name: string
  readonly type: string
  readonly notNull: boolean
  readonly comment: string | null
}

/** Every row's `columns` are found in `toColumns` of another relation. */
export interface Reference {
  readonly columns: readonly string[]
  /** `schema.relation`. */
  readonly to: string
  readonly toColumns: readonly string[]
}

export interface DatabaseFunction {
  readonly schema: string
  readonly name: string
  readonly arguments: string
  readonly result: string
  readonly comment: string | null
}

/** The schemas that people query, in the order in which they should look. */
export const SCHEMAS: readonly string[] = ['reporting', 'collab', 'sync']

/**
 * Reads comments, types, keys and references from PostgreSQL's catalog. Views have no constraints: their keys stand at
 * the end of their comments (`Key: a, b.`), and what they refer to follows from the keys of the catalog's views.
 */
export async function readDictionary(database: Database): Promise<Dictionary> {
  const schemas = await database.query(sql('reports/dictionary-schemas'), [SCHEMAS])
  const relations = await database.query(sql('reports/dictionary-relations'), [SCHEMAS])
  const functions = await database.query(sql('reports/dictionary-functions'), [SCHEMAS])
  const read = relations.rows.map(relationOf)
  return {
    schemas: schemas.rows,
    relations: read.map((relation) => ({
      ...relation,
      references: [...relation.references, ...referencesOfView(relation, read)],
    })),
    functions: functions.rows,
  }
}

const KEY = /\s*Key: ([a-z_, ]+)\.$/

function relationOf(row: Record<string, unknown>): Relation {
  const { schema, name, kind, columns, key, references, comment } = row as unknown as Omit<
    Relation,
    'key' | 'references'
  > & { key: string[] | null; references: Reference[] | null }
  const named = KEY.exec(comment ?? '')?.[1]?.split(', ')
  return {
    schema,
    name,
    kind,
    comment: comment?.replace(KEY, '') ?? null,
    columns,
    key: key ?? named ?? [],
    references: references ?? [],
  }
}

/** The views of what the catalog lists: whatever carries their whole key refers to them. */
const CATALOG_VIEWS = ['organizations', 'documents', 'annotations', 'user_groups']

function referencesOfView(view: Relation, all: readonly Relation[]): Reference[] {
  if (view.kind !== 'view') return []
  const names = new Set(view.columns.map(({ name }) => name))
  return all
    .filter((to) => to.schema === 'collab' && CATALOG_VIEWS.includes(to.name) && to !== view)
    .filter(({ key }) => key.every((column) => names.has(column)))
    .map((to) => ({ columns: to.key, to: `${to.schema}.${to.name}`, toColumns: to.key }))
}
