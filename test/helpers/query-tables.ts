import { statementName } from '../../src/core/database/statement.ts'
import type { Client } from '../../src/core/database/pool.ts'

/**
 * A connection on which statements answer what a test says, for decisions on rows: each by its name with its rows, in the
 * order of its columns. Whatever is not named answers with a failure, so that nothing is asked unseen.
 */
export function answeringTables(rows: Readonly<Record<string, readonly unknown[][]>>): {
  client: Client
  asked: [name: string, values: readonly unknown[]][]
} {
  const asked: [string, readonly unknown[]][] = []
  const query = async ({ text, values = [] }: { text: string; values?: readonly unknown[] }) => {
    const name = statementName(text) ?? text
    asked.push([name, values])
    const found = rows[name]
    if (found === undefined) throw new Error(`${name} was asked`)
    return { rows: found, rowCount: found.length }
  }
  return { client: { query } as unknown as Client, asked }
}
