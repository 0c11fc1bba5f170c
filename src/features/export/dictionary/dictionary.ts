import { z } from 'zod'
import type { Database } from '../../../core/database/pool.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import * as reports from '../../../core/database/statements/reports.ts'

const COLUMN = z.object({
  name: z.string(),
  type: z.string(),
  notNull: z.boolean(),
  comment: z.string().nullable(),
})
export type Column = z.infer<typeof COLUMN>

/** Every row's `columns` are found in `toColumns` of another relation; `to` is `schema.relation`. */
const REFERENCE = z.object({
  columns: z.string().array(),
  to: z.string(),
  toColumns: z.string().array(),
})
export type Reference = z.infer<typeof REFERENCE>

export const RELATION = z.object({
  schema: z.string(),
  name: z.string(),
  kind: z.enum(['table', 'view', 'type']),
  /** In a {@link Relation} without the sentence that names the key of a view. */
  comment: z.string().nullable(),
  columns: COLUMN.array(),
  /** Column names; empty where no column or columns are unique. */
  key: z
    .string()
    .array()
    .nullable()
    .transform((key) => key ?? []),
  references: REFERENCE.array()
    .nullable()
    .transform((references) => references ?? []),
})
export type Relation = z.infer<typeof RELATION>

/** What the database itself says of the tables that people query. */
export interface Dictionary {
  readonly schemas: readonly RowOf<typeof reports.dictionarySchemas>[]
  readonly relations: readonly Relation[]
  readonly functions: readonly RowOf<typeof reports.dictionaryFunctions>[]
}

/** The schemas that people query, in the order in which they should look. */
const SCHEMAS: readonly string[] = ['reporting', 'collab', 'sync']

/**
 * Reads comments, types, keys and references from PostgreSQL's catalog. Views have no constraints: their keys stand at
 * the end of their comments (`Key: a, b.`), and what they refer to follows from the keys of the catalog's views.
 */
export async function readDictionary(database: Database): Promise<Dictionary> {
  const given = { schemas: SCHEMAS }
  const schemas = await reports.dictionarySchemas.all(database, given)
  const relations = await reports.dictionaryRelations.all(database, given)
  const functions = await reports.dictionaryFunctions.all(database, given)
  const read = relations.map((row) => withoutNamedKey(RELATION.parse(row)))
  return {
    schemas,
    relations: read.map((relation) => ({
      ...relation,
      references: [...relation.references, ...referencesOfView(relation, read)],
    })),
    functions,
  }
}

const KEY = /\s*Key: ([a-z_, ]+)\.$/

function withoutNamedKey(relation: Relation): Relation {
  const { comment, key } = relation
  const named = KEY.exec(comment ?? '')?.[1]?.split(', ') ?? []
  return {
    ...relation,
    comment: comment?.replace(KEY, '') ?? null,
    key: key.length > 0 ? key : named,
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
