import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../../../src/base/log.ts'
import { itemDelivery, openQueue } from '../../../src/core/queue/queue.ts'
import { startRun } from '../../../src/core/run/start.ts'
import { figure, median, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { createDatabaseOf, untilSucceeded } from '../database.ts'
import type { BenchDatabase } from '../database.ts'
import { watchLocks } from '../lock-watch.ts'
import type { Servers } from '../servers.ts'
import { FOUR_THOUSAND, worldOf } from '../worlds.ts'

const WORLD = { ...FOUR_THOUSAND, documents: 80 }
const CALLS = 20 * (1 + 2 + 80 + 80 * 20)
const ROUNDS = 3
const RUNS_A_ROUND = 2
/** How long a process with a half core runs, and is stopped. */
const RATION_MS = 50

/** One, two and four processes that share a run, and the locks for which they wait. */
export const workers: Comparison = {
  name: 'workers',
  title: 'Several worker processes',
  async run(servers) {
    const database = await createDatabaseOf(servers, worldOf(WORLD))
    try {
      const locks = watchLocks(database)
      await measure(servers, database, { processes: 4, runs: 1, order: 0 })
      const { waits, deadlocks } = await locks.stop()
      const rationed = await compare([1, 2], (processes, runs) =>
        measure(servers, database, { processes, runs, order: 1, halfCores: true }),
      )
      const free = await compare([1, 2, 4], (processes, runs) =>
        measure(servers, database, { processes, runs, order: 1 }),
      )
      return {
        tables: [
          {
            title: `${CALLS.toLocaleString('en')} calls, nothing changed`,
            head: ['processes', 'calls/s', 'of one', 'cores busy'],
            rows: [
              ...rationed.rows.map(([processes, ...rest]) => [
                `${processes}, half a core each`,
                ...rest,
              ]),
              ...free.rows,
            ],
          },
        ],
        figures: [
          figure(
            'workers.two-half-cores',
            'calls a second of two processes / of one, each with half a core of its own',
            rationed.ofOne(2),
            { atLeast: 1.7 },
          ),
          figure('workers.lock-waits', 'waits for a lock while four made the first load', [waits], {
            unit: 'waits',
            atMost: 0,
          }),
          figure('workers.deadlocks', 'deadlocks', [deadlocks], { unit: 'deadlocks', atMost: 0 }),
        ],
      }
    } finally {
      await database.drop()
    }
  },
}

interface Run {
  readonly callsPerS: number
  /** Cores that were busy meanwhile, with whatever. */
  readonly coresBusy: number
}

interface WarmRun extends Run {
  readonly ofOne: number
}

/** Some numbers of processes take turns, so that what the machine does meanwhile falls on all of them. */
async function compare(
  numbers: readonly number[],
  runsOf: (processes: number, runs: number) => Promise<Run[]>,
) {
  const warm = new Map<number, WarmRun[]>()
  for (let round = 0; round < ROUNDS; round++) {
    let one = 0
    for (const processes of numbers) {
      const runs = (await runsOf(processes, RUNS_A_ROUND + 1)).slice(1)
      if (processes === 1) one = median(runs.map(({ callsPerS }) => callsPerS))
      const compared = runs.map((run) => ({ ...run, ofOne: run.callsPerS / one }))
      warm.set(processes, [...(warm.get(processes) ?? []), ...compared])
    }
  }
  const each = (processes: number, value: (run: WarmRun) => number) =>
    (warm.get(processes) ?? []).map(value)
  const rows = numbers.map((processes) => [
    processes,
    short(median(each(processes, ({ callsPerS }) => callsPerS))),
    short(median(each(processes, ({ ofOne }) => ofOne))),
    short(median(each(processes, ({ coresBusy }) => coresBusy))),
  ])
  return { ofOne: (processes: number) => each(processes, ({ ofOne }) => ofOne), rows }
}

interface Measure {
  readonly processes: number
  readonly runs: number
  readonly order: number
  /** Each process runs half of the time, in turns. */
  readonly halfCores?: boolean
}

async function measure(
  servers: Servers,
  database: BenchDatabase,
  { processes, runs, order, halfCores = false }: Measure,
): Promise<Run[]> {
  const prefix = `bench-${randomBytes(6).toString('hex')}`
  const place = { kind: 'redis', url: servers.redisUrl, prefix } as const
  const children = await Promise.all(
    Array.from({ length: processes }, () => startChild(database.url, place.url, prefix, order)),
  )
  const queue = await openQueue(place, createLog('warn'))
  const endRations = halfCores ? ration(children) : () => {}
  const measured: Run[] = []
  try {
    for (let run = 0; run < runs; run++) {
      const busyBefore = busyMs()
      const startedAtMs = Date.now()
      const context = { database: database.pool, operations: ['users', 'comments'] } as const
      const { runId, items } = await startRun(context, {
        trigger: 'cli',
        scope: {},
        requestKey: null,
      })
      await queue.deliver(items.map(itemDelivery))
      const { finished_at: finishedAt } = await untilSucceeded(database.pool, runId)
      const tookMs = finishedAt.getTime() - startedAtMs
      const coresBusy = (busyMs() - busyBefore) / (Date.now() - startedAtMs)
      measured.push({ callsPerS: (CALLS / tookMs) * 1000, coresBusy })
    }
  } finally {
    endRations()
    await queue.close()
    await Promise.all(children.map(stopChild))
  }
  return measured
}

/** Lets the even and the odd of some processes run in turns. @returns what ends it */
function ration(children: readonly ChildProcess[]): () => void {
  let turn = 0
  const timer = setInterval(() => {
    turn += 1
    for (const [index, child] of children.entries())
      child.kill((index + turn) % 2 === 0 ? 'SIGCONT' : 'SIGSTOP')
  }, RATION_MS)
  return () => {
    clearInterval(timer)
    for (const child of children) child.kill('SIGCONT')
  }
}

/** What all cores have computed so far. */
function busyMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0)
}

async function startChild(databaseUrl: string, redisUrl: string, prefix: string, order: number) {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../worker-child.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...process.env,
      COLLAB_API_URL: 'http://127.0.0.1:1',
      COLLAB_API_KEY: 'none',
      COLLAB_AUTH_TOKEN: 'none',
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      QUEUE_PREFIX: prefix,
      BENCH_ORDER: String(order),
      BENCH_WORLD: JSON.stringify(WORLD),
    },
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve())
    child.once('exit', (code) => reject(new Error(`A worker ended with ${code}.`)))
  })
  return child
}

async function stopChild(child: ChildProcess): Promise<void> {
  child.removeAllListeners('exit')
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.stdin?.end()
  await ended
}
