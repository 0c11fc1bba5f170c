import { z } from 'zod'
import type { Database } from '../../../core/database/pool.ts'
import * as reports from '../../../core/database/statements/reports.ts'

const COLUMN = z.object({
  name: z.string(),
  type: z.string(),
  notNull: z.boolean(),
  comment: z.string().nullable(),
})
export type Column = z.infer<typeof COLUMN>

/** The `columns` of every row occur in `toColumns` of another relation; `to` is `schema.relation`. */
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
  /** Without the sentence that names the key of a view, after readDictionary. */
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

/** The database's own description of the tables that people query. */
export type Dictionary = Awaited<ReturnType<typeof readDictionary>>

/** The schemas that people query, the most useful one first. */
const SCHEMAS: readonly string[] = ['reporting', 'collab', 'sync']

/**
 * Reads comments, types, keys and references from PostgreSQL's catalog. Views have no constraints: their comments end with
 * the key (`Key: a, b.`), and a view references each view of the catalog whose whole key it has.
 */
export async function readDictionary(database: Database) {
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

/** The views of the objects in the catalog. */
const CATALOG_VIEWS = ['organizations', 'documents', 'annotations', 'user_groups']

function referencesOfView(view: Relation, all: readonly Relation[]): Reference[] {
  if (view.kind !== 'view') return []
  const names = new Set(view.columns.map(({ name }) => name))
  return all
    .filter((to) => to.schema === 'collab' && CATALOG_VIEWS.includes(to.name) && to !== view)
    .filter(({ key }) => key.every((column) => names.has(column)))
    .map((to) => ({ columns: to.key, to: `${to.schema}.${to.name}`, toColumns: to.key }))
}
