import { Session } from 'node:inspector/promises'
import { sharesOf } from '../../../src/cli/cpu-profile.ts'
import { figure, median, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { openPlace } from '../place.ts'
import { environmentOf, startProgram } from '../program.ts'
import { FOUR_THOUSAND } from '../worlds.ts'

const RUNS = 5
/** Calls a second at which the queue must not be what limits. */
const CALLS_A_SECOND = 5000
const QUEUE_PIECES = new Set(['bullmq', 'ioredis', '@ioredis/commands', 'msgpackr', 'redis-parser'])
const PIECES_TOLD = 8

export const queue: Comparison = {
  name: 'queue',
  title: 'What the queue costs, and where the CPU goes',
  explains:
    'A CPU profile of a worker over runs with nothing changed, the queue on Redis: the self time of BullMQ, its Redis client and its encoder, as a share of all time that the process was computing; writing to sockets and collecting garbage are not told apart by who caused them. A job is a batch of up to 256 scopes of one organization, so that the jobs a second that a rate of calls needs stay far below what the queue can do (about 1,000 on PostgreSQL and 10,000 on Redis, no-op jobs, two cores).',
  async run(servers) {
    if (servers.redisUrl === null) return { tables: [], figures: [] }
    const place = await openPlace(servers, FOUR_THOUSAND)
    const database = await place.createDatabase()
    const program = await startProgram(environmentOf({ ...place, database }, 'redis', 64))
    try {
      await program.run()
      const shares: number[] = []
      let last: ReturnType<typeof sharesOf> = []
      let calls = 0
      for (let run = 0; run < RUNS; run++) {
        const profiled = await profileOf(async () => (calls = (await program.run()).calls))
        last = profiled
        shares.push(
          profiled
            .filter(({ name }) => QUEUE_PIECES.has(name))
            .reduce((sum, { share }) => sum + share, 0),
        )
      }
      const { rows } = await database.pool.query(
        'select count(*)::int / count(distinct run_id)::int as jobs from sync.run_items',
      )
      const jobsNeeded = (CALLS_A_SECOND * rows[0].jobs) / calls
      return {
        tables: [
          {
            title: 'Where the CPU of a worker goes, nothing changed: the largest costs',
            head: ['piece', 'share %'],
            rows: last.slice(0, PIECES_TOLD).map(({ name, share }) => [name, short(share * 100)]),
          },
        ],
        figures: [
          figure(
            'queue.cpu',
            'CPU in BullMQ and its Redis client / all',
            shares.map((share) => share * 100),
            { unit: '%', atMost: 5 },
          ),
          figure(
            'queue.jobs',
            `jobs a second at ${CALLS_A_SECOND} calls a second`,
            [median([jobsNeeded])],
            { atMost: 1000 },
          ),
        ],
      }
    } finally {
      await program.stop()
      await database.drop()
      await place.close()
    }
  },
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
