import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from './servers.ts'
import { until } from './until.ts'

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

/** An address behind which the server can be exchanged: connections that are open stay with the server they reached. */
export interface Address {
  readonly url: string
  leadTo(server: OwnRedis): void
  close(): void
}

export async function openAddress(first: OwnRedis): Promise<Address> {
  let port = portOf(first)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const behind = createConnection({ host: '127.0.0.1', port })
    for (const socket of [client, behind]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        behind.destroy()
      })
    }
    client.pipe(behind).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (next) => void (port = portOf(next)),
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function portOf({ url }: OwnRedis): number {
  return Number(new URL(url).port)
}
