import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import { openEmbeddedPostgres } from '../../src/worker/embedded/open-embedded-postgres.ts'
import { ownFolder } from '../helpers/own-folder.ts'

export const isRoot = process.getuid?.() === 0

/** An empty directory that every user can pass through; root's server runs as another one. */
export function temporaryDirectory(): string {
  const directory = ownFolder()
  chmodSync(directory, 0o755)
  return directory
}

/**
 * Makes `home` one whose cluster is there and stopped: a copy of the run's first, which costs a fifth of an initdb. For
 * tests of what comes after it.
 */
export async function copyHome(home: string): Promise<void> {
  const first = join(inject('runFolder'), 'embedded-home')
  if (!existsSync(first)) {
    const unfinished = mkdtempSync(`${first}-`)
    chmodSync(unfinished, 0o755)
    await (await openEmbeddedPostgres({ home: join(unfinished, 'home') })).close()
    // Of two that were made at once the first stays.
    if (existsSync(first)) rmSync(unfinished, { recursive: true })
    else renameSync(unfinished, first)
  }
  // With the owners, which Node's own copy does not keep.
  execFileSync('cp', ['-Rp', join(first, 'home'), home])
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
