import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import pg from 'pg'
import { openEmbeddedPostgres } from '../../src/embedded/open-embedded-postgres.ts'
import { removeHome } from '../helpers/remove-home.ts'
import { until } from '../helpers/until.ts'
import { copyHome } from '../embedded/machine.ts'

/** A Redis of the test's own, which it may flush and kill. */
export interface OwnRedis {
  readonly url: string
  /** Starts it on the port it had. */
  start(): Promise<void>
  kill(): Promise<void>
  /** Runs one command; its answer as text. */
  command(name: string, ...parameters: string[]): Promise<string>
  close(): Promise<void>
}

/** @param options.password asked of every client */
export async function openOwnRedis(options: { password?: string } = {}): Promise<OwnRedis> {
  const port = await freePort()
  const directory = mkdtempSync(join(tmpdir(), 'collab-sync-own-redis-'))
  const credentials = options.password === undefined ? '' : `:${options.password}@`
  const url = `redis://${credentials}127.0.0.1:${port}`
  let child: ChildProcess | null = null
  const redis: OwnRedis = {
    url,
    async start() {
      const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', '']
      const secret = options.password === undefined ? [] : ['--requirepass', options.password]
      child = spawn('redis-server', [...flags, ...secret], { cwd: directory, stdio: 'ignore' })
      await until('Redis answers', () => redis.command('ping').catch(() => null))
    },
    async kill() {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    async command(name, ...parameters) {
      const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
      client.on('error', () => {})
      try {
        await client.connect()
        return String(await client.call(name, ...parameters))
      } finally {
        client.disconnect()
      }
    },
    async close() {
      await redis.kill()
      rmSync(directory, { recursive: true, force: true })
    },
  }
  await redis.start()
  return redis
}

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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
