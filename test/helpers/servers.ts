import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startLike } from './own-server.ts'
import { removeHome } from './remove-home.ts'

const LOCAL_POSTGRES = 'postgres://postgres@127.0.0.1:5432/postgres'

/** A server that the tests use; `close` ends it where the run started it. */
export interface Server {
  url: string
  close(): Promise<void>
}

/**
 * PostgreSQL from TEST_DATABASE_URL, or of the run's own: with the programs of the one on 127.0.0.1:5432, else with the
 * embedded ones, which `TEST_DATABASE_URL=embedded` takes anyway.
 */
export async function openPostgres(): Promise<Server> {
  const given = process.env['TEST_DATABASE_URL']
  if (given && given !== 'embedded') return { url: given, close: async () => {} }
  if (!given && (await isPostgres(LOCAL_POSTGRES)))
    return (await startLike(LOCAL_POSTGRES)) ?? { url: LOCAL_POSTGRES, close: async () => {} }
  const { openEmbeddedPostgres } =
    await import('../../src/worker/embedded/open-embedded-postgres.ts')
  // It stays until the end: it may have the programs.
  const home = mkdtempSync(join(tmpdir(), 'collab-sync-test-'))
  chmodSync(home, 0o755)
  const embedded = await openEmbeddedPostgres({ home })
  const server = await startLike(embedded.url)
  await embedded.close()
  if (server === null)
    throw new Error('The programs of the embedded PostgreSQL are not to be found.')
  return {
    url: server.url,
    async close() {
      await server.close()
      removeHome(home)
    },
  }
}

async function isPostgres(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 })
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end()
  }
}

/**
 * A free port below those that the system gives to connections, so that no connection takes the port of a server that is
 * being restarted.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
