import type { Client, Database } from './pool.ts'
import type { RowOf } from './statement.ts'
import * as erase from './statements/erase.ts'

/** A table with columns that can hold text, and the statements for it. */
export type TextTable = RowOf<typeof erase.textColumns>

/** A row's place, and its columns that can hold text as JSON text, by their names. */
export interface TextRow {
  readonly tid: string
  readonly texts: string
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
  { userId, pattern }: { readonly userId: string | null; readonly pattern: string },
  organizationKeys: readonly number[] | null,
): Promise<FoundText[]> {
  return (await client.query<FoundText>(find, [pattern, organizationKeys, userId])).rows
}

/** Locks rows; those that moved meanwhile, or that somebody else has locked, are left out. */
export async function lockTexts(
  client: Client,
  { lock }: TextTable,
  tids: readonly string[],
): Promise<TextRow[]> {
  return (await client.query<TextRow>(lock, [tids])).rows
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
  for (const { statement } of await erase.analyze.all(on)) await on.query(statement)
}
