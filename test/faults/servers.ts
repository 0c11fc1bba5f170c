import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { openEmbeddedPostgres } from '../../src/worker/embedded/open-embedded-postgres.ts'
import { removeHome } from '../helpers/remove-home.ts'
import { until } from '../helpers/until.ts'
import { copyHome } from '../embedded/machine.ts'

/** A PostgreSQL of the test's own, which it may kill. */
export interface OwnPostgres {
  readonly url: string
  /** Starts it on the port it had, with the data it had. */
  start(): Promise<void>
  /** kill -9 of the server. */
  kill(): Promise<void>
  close(): Promise<void>
}

export async function openOwnPostgres(): Promise<OwnPostgres> {
  const directory = mkdtempSync(join(tmpdir(), 'collab-sync-own-postgres-'))
  // Root's server runs as another user, who has to pass through here.
  chmodSync(directory, 0o755)
  const home = join(directory, 'home')
  await copyHome(home)
  const opened = [await openEmbeddedPostgres({ home })]
  const url = opened[0]?.url as string
  const dataDirectory = await ask(url, 'show data_directory')
  return {
    url,
    async start() {
      opened.push(await openEmbeddedPostgres({ home }))
    },
    async kill() {
      const pidFile = readFileSync(join(dataDirectory, 'postmaster.pid'), 'utf8')
      process.kill(Number(pidFile.split('\n')[0]), 'SIGKILL')
      await until('PostgreSQL is gone', () =>
        ask(url, 'select 1').then(
          () => null,
          () => true,
        ),
      )
    },
    async close() {
      for (const each of opened) await each.close()
      removeHome(home)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function ask(url: string, text: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<unknown[]>({ text, rowMode: 'array' })
    return String(rows[0]?.[0])
  } finally {
    await client.end()
  }
}
