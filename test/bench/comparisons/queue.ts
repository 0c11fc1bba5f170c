import { Session } from 'node:inspector/promises'
import { sharesOf } from '../cpu-shares.ts'
import { figure, median, short } from '../bench.ts'
import type { Comparison, Table } from '../bench.ts'
import { openPlace } from '../place.ts'
import { environmentOf, startProgram } from '../program.ts'
import type { QueueKind } from '../program.ts'
import { emptyJobsASecond } from '../queue-rate.ts'
import type { Servers } from '../servers.ts'
import type { WorldSize } from '../stand-in.ts'
import { FOUR_THOUSAND } from '../worlds.ts'

const RUNS = 5
/** Calls a second at which the queue must not be what limits. */
const CALLS_A_SECOND = 5000
const QUEUE_PIECES = new Set(['bullmq', 'ioredis', '@ioredis/commands', 'msgpackr', 'redis-parser'])
const PIECES_TOLD = 8
/** The least that a job can carry: two batches an organization, with three calls in both. */
const TINY: WorldSize = {
  organizations: 1000,
  documents: 1,
  annotations: 1,
  comments: 2,
  users: 3,
  groups: 0,
}

export const queue: Comparison = {
  name: 'queue',
  title: 'What the queue costs, and where the CPU goes',
  explains:
    "A CPU profile of a worker over runs with nothing changed, the queue on Redis: the self time of BullMQ, its Redis client and its encoder, as a share of all time that the process was computing; writing to sockets and collecting garbage are not told apart by who caused them. A job is a batch of up to 256 scopes of one organization, so that the jobs a second that a rate of calls needs stay far below what the queue can do, which is measured with jobs in which there is nothing to do. Organizations of one annotation are the worst there is: a job for one call or two. There a worker takes more jobs in hand, up to 128, so that calls are still made side by side, and what limits is no longer the queue's rate alone but the four statements that each batch costs PostgreSQL whatever is in it.",
  async run(servers) {
    if (servers.redisUrl === null) return { tables: [], figures: [] }
    const ordinary = await profiledRuns(servers, FOUR_THOUSAND)
    const rates: Record<QueueKind, number> = {
      redis: await emptyJobsASecond(servers, 'redis'),
      postgres: await emptyJobsASecond(servers, 'postgres'),
    }
    const tiny = await profiledRuns(servers, TINY)
    const needed = (jobsACall: number) => CALLS_A_SECOND * jobsACall
    return {
      tables: [
        piecesTable('Where the CPU of a worker goes, nothing changed: the largest costs', ordinary),
        piecesTable('The same with organizations of one annotation', tiny),
        {
          title: 'Jobs a second',
          head: ['', 'jobs/s'],
          rows: [
            ['empty jobs, Redis', short(rates.redis)],
            ['empty jobs, PostgreSQL', short(rates.postgres)],
            [`needed for ${CALLS_A_SECOND} calls/s`, short(needed(ordinary.jobsACall))],
            [
              `needed for ${CALLS_A_SECOND} calls/s, organizations of one annotation`,
              short(needed(tiny.jobsACall)),
            ],
            ['reached by one worker with those', short(median(tiny.callsPerS) * tiny.jobsACall)],
          ],
        },
      ],
      figures: [
        figure('queue.cpu', 'CPU in BullMQ and its Redis client / all', ordinary.queuePercent, {
          unit: '%',
          atMost: 5,
        }),
        ...(['redis', 'postgres'] as const).map((kind) =>
          figure(
            `queue.rate.${kind}`,
            `jobs a second that it bears / needed at ${CALLS_A_SECOND} calls a second`,
            [rates[kind] / needed(ordinary.jobsACall)],
            { atLeast: 1 },
          ),
        ),
        figure(
          'queue.tiny',
          'calls a second with organizations of one annotation / with 200 annotations each',
          [median(tiny.callsPerS) / median(ordinary.callsPerS)],
          {},
        ),
      ],
    }
  },
}

interface Profiled {
  /** One for each run. */
  readonly queuePercent: number[]
  readonly callsPerS: number[]
  readonly jobsACall: number
  /** Of the last run. */
  readonly shares: ReturnType<typeof sharesOf>
}

async function profiledRuns(servers: Servers, world: WorldSize): Promise<Profiled> {
  const place = await openPlace(servers, world)
  const database = await place.createDatabase()
  const program = await startProgram(environmentOf({ ...place, database }, 'redis', 64))
  try {
    await program.run()
    const queuePercent: number[] = []
    const callsPerS: number[] = []
    let shares: Profiled['shares'] = []
    let calls = 0
    for (let run = 0; run < RUNS; run++) {
      shares = await profileOf(async () => {
        const measured = await program.run()
        calls = measured.calls
        callsPerS.push((calls / measured.fromFirstCallMs) * 1000)
      })
      const ofQueue = shares.filter(({ name }) => QUEUE_PIECES.has(name))
      queuePercent.push(100 * ofQueue.reduce((sum, { share }) => sum + share, 0))
    }
    const { rows } = await database.pool.query(
      'select count(*)::float8 / count(distinct run_id) as jobs from sync.run_items',
    )
    return { queuePercent, callsPerS, jobsACall: rows[0].jobs / calls, shares }
  } finally {
    await program.stop()
    await database.drop()
    await place.close()
  }
}

function piecesTable(title: string, { shares }: Profiled): Table {
  return {
    title,
    head: ['piece', 'share %'],
    rows: shares.slice(0, PIECES_TOLD).map(({ name, share }) => [name, short(share * 100)]),
  }
}

async function profileOf(work: () => Promise<unknown>) {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.start')
  await work()
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  return sharesOf(profile)
}
