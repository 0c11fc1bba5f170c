import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startLike } from './own-server.ts'
import { removeHome } from './remove-home.ts'
import { until } from './until.ts'

const LOCAL_POSTGRES = 'postgres://postgres@127.0.0.1:5432/postgres'
const LOCAL_REDIS = 'redis://127.0.0.1:6379'

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

/** Redis from REDIS_URL, on 127.0.0.1:6379, or from `redis-server` on the PATH; without any its url is empty. */
export async function openRedis(): Promise<Server> {
  const given = process.env['REDIS_URL']
  if (given) return { url: given, close: async () => {} }
  if (await answersPing(6379)) return { url: LOCAL_REDIS, close: async () => {} }
  const started = await startRedis()
  if (started) return started
  const problem =
    'No Redis: neither REDIS_URL, nor one on 127.0.0.1:6379, nor redis-server on the PATH'
  if (process.env['CI'] === 'true') throw new Error(`${problem}.`)
  const line = '!'.repeat(problem.length)
  console.warn(`\n${line}\n${problem}:\nevery test that needs Redis is SKIPPED.\n${line}\n`)
  return { url: '', close: async () => {} }
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

async function startRedis(): Promise<Server | null> {
  const port = await freePort()
  const directory = mkdtempSync(join(tmpdir(), 'collab-sync-redis-'))
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', options, { cwd: directory, stdio: 'ignore' })
  let hasFailed = false
  child.on('error', () => (hasFailed = true)).on('exit', () => (hasFailed = true))
  const close = async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit')
    rmSync(directory, { recursive: true, force: true })
  }
  const isUp = await until('redis-server answers or ends', async () =>
    (await answersPing(port)) ? 'yes' : hasFailed && 'no',
  )
  if (isUp === 'yes') return { url: `redis://127.0.0.1:${port}`, close }
  await close()
  return null
}

/** Asks as Redis is asked, so that another server on the port is not taken for one. */
async function answersPing(port: number): Promise<boolean> {
  const socket = createConnection({ host: '127.0.0.1', port, timeout: 2000 })
  try {
    await once(socket, 'connect')
    socket.write('PING\r\n')
    socket.on('timeout', () => socket.destroy(new Error('timeout')))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return answer.toString().startsWith('+PONG')
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/**
 * A port that nobody listens on now, below those that the system gives to connections: while a server is killed and not yet
 * started again none takes its port.
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
