import type { PersonSearch } from './erase.ts'
import type { Client, Database } from './pool.ts'
import { sql } from './sql.ts'

/** A table with columns that can hold text, and the statements for it (erase/text-columns.sql). */
export interface TextTable {
  readonly relation: string
  readonly find: string
  readonly lock: string
  readonly rewrite: string
}

/** A row's place, and its columns that can hold text as JSON text, by their names. */
export interface TextRow {
  readonly tid: string
  readonly texts: string
}

/** Every table of ours, and of the queue, with columns that can hold text. */
export async function readTextTables(on: Database): Promise<TextTable[]> {
  return (await on.query(sql('erase/text-columns'))).rows
}

/** A row that may speak of a person. */
export interface FoundText {
  readonly tid: string
  /** Characters of its texts. */
  readonly units: number
}

/** Rows that may speak of a person. @param organizationKeys null for all rows */
export async function findTexts(
  client: Client,
  { find }: TextTable,
  { userId, pattern }: PersonSearch,
  organizationKeys: readonly number[] | null,
): Promise<FoundText[]> {
  await client.query(sql('erase/no-time-limits'))
  return (await client.query(find, [pattern, organizationKeys, userId])).rows
}

/** Locks rows; those that moved meanwhile, or that somebody else has locked, are left out. */
export async function lockTexts(
  client: Client,
  { lock }: TextTable,
  tids: readonly string[],
): Promise<TextRow[]> {
  return (await client.query(lock, [tids])).rows
}

export async function rewriteTexts(
  client: Client,
  { rewrite }: TextTable,
  rows: readonly TextRow[],
): Promise<void> {
  if (rows.length === 0) return
  const items = rows.map(({ tid, texts }) => `{"tid":${JSON.stringify(tid)},"texts":${texts}}`)
  await client.query(rewrite, [`[${items.join()}]`])
}

/** Takes the planner's samples of values anew, so that none of the person is left in them. */
export async function refreshStatistics(on: Database): Promise<void> {
  const { rows } = await on.query(sql('erase/analyze'))
  for (const { statement } of rows) await on.query(statement)
}
