import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from './servers.ts'
import type { Server } from './servers.ts'
import { until } from './until.ts'

const LOCAL_REDIS = 'redis://127.0.0.1:6379'

/** A Redis of the test's own, which it may flush and kill. */
export interface OwnRedis {
  readonly url: string
  /** Starts it on the port it had. */
  start(): Promise<void>
  kill(): Promise<void>
  /** Stops its process until it is woken, with its connections open. */
  freeze(): void
  wake(): void
  /** Runs one command; its answer as text. */
  command(name: string, ...parameters: string[]): Promise<string>
  close(): Promise<void>
}

/**
 * @param options.password asked of every client
 * @param options.flags further ones of redis-server
 */
export async function openOwnRedis(
  options: { password?: string; flags?: string[] } = {},
): Promise<OwnRedis> {
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
      const all = [...flags, ...secret, ...(options.flags ?? [])]
      child = spawn('redis-server', all, { cwd: directory, stdio: 'ignore' })
      await until('Redis answers', () => redis.command('ping').catch(() => null))
    },
    async kill() {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    freeze: () => void child?.kill('SIGSTOP'),
    wake: () => void child?.kill('SIGCONT'),
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

/** Redis from REDIS_URL, on 127.0.0.1:6379, or from `redis-server` on the PATH; without any its url is empty. */
export async function openRedis(): Promise<Server> {
  const given = process.env['REDIS_URL']
  if (given) return { url: given, close: async () => {} }
  if (await answersPing()) return { url: LOCAL_REDIS, close: async () => {} }
  if (spawnSync('redis-server', ['--version']).status === 0) return openOwnRedis()
  const problem =
    'No Redis: neither REDIS_URL, nor one on 127.0.0.1:6379, nor redis-server on the PATH'
  if (process.env['CI'] === 'true') throw new Error(`${problem}.`)
  const line = '!'.repeat(problem.length)
  console.warn(`\n${line}\n${problem}:\nevery test that needs Redis is SKIPPED.\n${line}\n`)
  return { url: '', close: async () => {} }
}

/** Asks as Redis is asked, so that another server on the port is not taken for one. */
async function answersPing(): Promise<boolean> {
  const socket = createConnection({ host: '127.0.0.1', port: 6379, timeout: 2000 })
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
