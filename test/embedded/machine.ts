import { chmodSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

export const isRoot = process.getuid?.() === 0

/** An empty directory that every user can pass through; root's server runs as another one. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'collab-sync-embedded-'))
  chmodSync(directory, 0o755)
  return directory
}

/** First column of the first row, as text. */
export async function ask(url: string, sql: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' })
    return String(rows[0]?.[0])
  } finally {
    await client.end()
  }
}

/** Process id of the server in a data directory; throws when it was stopped properly. */
export function serverPid(serverDirectory: string): number {
  return Number(
    readFileSync(join(serverDirectory, 'data', 'postmaster.pid'), 'utf8').split('\n')[0],
  )
}
