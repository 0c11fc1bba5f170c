import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { createTestDatabase, urlWith } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { ownFolder } from '../helpers/own-folder.ts'
import { randomPrefix, redisUrl } from '../helpers/redis.ts'
import { buildCommand } from './built-command.ts'
import type { BuiltCommand, Environment, StandInProcess } from './built-command.ts'
import type { Ended } from './hosted-commands.ts'

/** SIGTERM at any moment of a start ends a process in order: exit code 0, and nothing is left behind. */

/** From its first line to when it works, in steps. */
const MOMENTS_MS = Array.from({ length: 10 }, (_, step) => step * 160)
const FEW_MOMENTS_MS = MOMENTS_MS.filter((_, step) => step % 3 === 0)
/** Of moments that two share because they differ little, those of the first or of the second. */
const ofFirst = (_: unknown, step: number): boolean => step % 2 === 0
const ofSecond = (_: unknown, step: number): boolean => step % 2 === 1
/** Well below the time limit of a connection. On a machine of its own it takes less than two seconds. */
const SOON_MS = 14_000
vi.setConfig({ testTimeout: 60_000 })

let command: BuiltCommand
let standIn: StandInProcess
let database: TestDatabase
let settings: Environment

beforeAll(async () => {
  command = await buildCommand()
  const catalog = join(command.directory, 'catalog.ndjson')
  standIn = await command.startStandIn('--organizations', '1', '--catalog', catalog)
  database = await createTestDatabase()
  settings = { ...standIn.environment, DATABASE_URL: database.url, HTTP_PORT: '0' }
  expect(await command.run(['catalog', 'import', catalog], settings)).toMatchObject({ code: 0 })
})

/** Says on stderr that the first line of the program is reached: before that there is nothing that could hear a signal. */
const TELL_BEGIN = `import { writeSync } from 'node:fs'
process.stdout.on('newListener', (event) => event === 'error' && writeSync(2, 'BEGUN'))`

/** Starts a command, and tells it to stop so long after its first line. */
async function stopped(name: string, environment: Environment, afterMs: number): Promise<Ended> {
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(TELL_BEGIN)}`
  const { child, ended, shows } = command.start([name], { ...environment, NODE_OPTIONS })
  await shows(/BEGUN/)
  await sleep(afterMs)
  const toldAtMs = performance.now()
  child.kill('SIGTERM')
  const end = await ended
  expect(performance.now() - toldAtMs).toBeLessThan(SOON_MS)
  return end
}

async function left(): Promise<unknown> {
  const { rows } = await database.pool.query(
    `select (select count(*)::int from sync.workers) as heartbeats,
      (select count(*)::int from sync.runs where finished_at is null) as runs`,
  )
  return rows[0]
}

describe.each([
  ['PostgreSQL', undefined, ofFirst],
  ['Redis', redisUrl(), ofSecond],
])('with the queue in %s', (kind, redis, isItsMoment) => {
  const isThere = kind === 'PostgreSQL' || redis !== undefined
  const queue = redis === undefined ? {} : { REDIS_URL: redis, QUEUE_PREFIX: randomPrefix() }

  test.skipIf(!isThere).each(MOMENTS_MS.filter(isItsMoment))(
    'a worker is told to stop after %i ms',
    async (afterMs) => {
      const { code, stderr } = await stopped('worker', { ...settings, ...queue }, afterMs)
      expect({ code, stderr, ...Object(await left()) }).toMatchObject({ code: 0, heartbeats: 0 })
    },
  )

  test.skipIf(!isThere).each(FEW_MOMENTS_MS.filter(isItsMoment))(
    'serve is told to stop after %i ms',
    async (afterMs) => {
      const { code, stderr } = await stopped('serve', { ...settings, ...queue }, afterMs)
      expect({ code, stderr }).toMatchObject({ code: 0 })
    },
  )
})

test.each(MOMENTS_MS)(
  'a run that is told to stop after %i ms leaves none open',
  async (afterMs) => {
    const { code, stderr } = await stopped('run', settings, afterMs)
    expect({ code, stderr, ...Object(await left()) }).toMatchObject({ heartbeats: 0, runs: 0 })
    expect([0, 1]).toContain(code)
  },
)

describe.each([
  ['worker', ofFirst],
  ['serve', ofSecond],
])('%s', (name, isItsMoment) => {
  test.each(FEW_MOMENTS_MS)('while PostgreSQL is not up, after %i ms', async (afterMs) => {
    const away = { ...settings, DATABASE_URL: urlWith(database.url, { port: 1 }) }
    expect(await stopped(name, away, 2 * afterMs)).toMatchObject({ code: 0 })
  })

  test('while PostgreSQL takes connections and does not answer', async () => {
    const sockets: Socket[] = []
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    try {
      const hung = { ...settings, DATABASE_URL: urlWith(database.url, { port }) }
      expect(await stopped(name, hung, 1500)).toMatchObject({ code: 0 })
    } finally {
      for (const socket of sockets) socket.destroy()
      silent.close()
    }
  })

  test.each([0, 400, 800, 1200, 2000, 3000].filter(isItsMoment))(
    'while it makes its own PostgreSQL, after %i ms: that is stopped too',
    async (afterMs) => {
      const home = join(ownFolder(), 'home')
      const { DATABASE_URL: _, ...embedded } = settings
      const { code, stderr } = await stopped(name, { ...embedded, COLLAB_SYNC_HOME: home }, afterMs)
      expect({ code, stderr }).toMatchObject({ code: 0 })
      expect(processesIn(home)).toEqual([])
    },
  )
})

test('a signal in the last milliseconds of a process does not kill it', async () => {
  const signals = pathToFileURL(join(command.directory, '../dist/src/cli/signals.js')).href
  const program = `const { handleSignals } = await import('${signals}'); handleSignals({ isGraceful: true }); console.log('the last line')`
  for (let tries = 0; tries < 10; tries += 1) {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
    const ended = once(child, 'close')
    await once(child.stdout, 'data')
    const timer = setInterval(() => child.kill('SIGTERM'), 1)
    expect(await ended).toEqual([0, null])
    clearInterval(timer)
  }
})

/** Command lines of processes that name a directory. */
function processesIn(directory: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return line.includes(directory) ? [line] : []
      } catch {
        return []
      }
    })
}
