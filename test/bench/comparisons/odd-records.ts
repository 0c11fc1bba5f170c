import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readAnswer } from '../../../src/service/answer.ts'
import type { Call, CollabApi } from '../../../src/service/client.ts'
import type { CommentsFilter } from '../../../src/service/filters.ts'
import { figure, median, short } from '../bench.ts'
import type { Comparison, Figure, Table } from '../bench.ts'
import { peakOfRun } from '../child-memory.ts'
import { openDirectSync } from '../direct-run.ts'
import { MemoryApi } from '../memory-api.ts'
import { createDatabaseOf } from '../memory-place.ts'
import { openPlace } from '../place.ts'
import type { Place } from '../place.ts'
import { environmentOf } from '../program.ts'
import type { Servers } from '../servers.ts'
import { FOUR_THOUSAND, worldOf } from '../worlds.ts'

const TIMES = 7
const OTHER_TIMES = 5

/** One whole batch: 256 annotations with 10 comments each. */
const ONE_BATCH = { ...FOUR_THOUSAND, organizations: 1, documents: 16, annotations: 16, groups: 0 }

/** The built checkout that a clean run is compared with, such as the commit before. */
const OTHER = process.env['BENCH_OTHER_BUILD']

export const oddRecords: Comparison = {
  name: 'odd-records',
  title: 'What one odd record costs',
  explains:
    'A batch of 256 annotations with 2,560 comments is loaded from memory, once sound and once with one comment that PostgreSQL refuses for a reason that nobody looks for beforehand (a constraint added for this). Its commit is rolled back, the scopes are committed one by one, and the records of the one that is refused are tried by halves. With `BENCH_OTHER_BUILD=DIRECTORY` clean runs of `collab-sync run` of this checkout and of the built one in that directory take turns over the same stand-in, each on a database of its own.',
  async run(servers) {
    const odd = await oddRecord(servers)
    const clean = OTHER === undefined ? [] : await cleanRuns(servers, OTHER)
    return {
      tables: [odd.table, ...clean.map(({ table }) => table)],
      figures: [odd.figure, ...clean.map((each) => each.figure)],
    }
  },
}

interface Measured {
  readonly table: Table
  readonly figure: Figure
}

async function oddRecord(servers: Servers): Promise<Measured> {
  const sound: number[] = []
  const odd: number[] = []
  for (let time = 0; time < TIMES; time++) {
    sound.push(await firstLoadMs(servers, false))
    odd.push(await firstLoadMs(servers, true))
  }
  const costs = odd.map((ms, time) => (ms - (sound[time] as number)) / 1000)
  const row = (name: string, runs: number[]) => [name, short(median(runs))]
  return {
    table: {
      title: 'A batch of 256 annotations, first load',
      head: ['', 'ms'],
      rows: [row('sound', sound), row('one comment is refused', odd)],
    },
    figure: figure('odd-records.refused', 'first load with one refused comment - without', costs, {
      unit: 's',
      atMost: 1,
    }),
  }
}

const REFUSED = 'refused by a constraint'

async function firstLoadMs(servers: Servers, hasOdd: boolean): Promise<number> {
  const world = worldOf(ONE_BATCH)
  const database = await createDatabaseOf(servers, world)
  const api = new MemoryApi()
  api.prepare(world, 0)
  const sync = await openDirectSync(hasOdd ? withOdd(api) : api, database)
  try {
    await database.pool.query(
      `alter table collab_store.comments add check (comment_text <> '${REFUSED}')`,
    )
    return (await sync.run(hasOdd ? 'partial' : 'succeeded')).wallMs
  } finally {
    await sync.close()
    await database.drop()
  }
}

/** The answers of another with one text replaced, in the first annotation that is asked for. */
function withOdd(api: MemoryApi): CollabApi {
  let first: string | null = null
  return Object.assign(Object.create(api) as CollabApi, {
    getUsers: api.getUsers.bind(api),
    pace: () => api.concurrency(),
    startAfresh: () => {},
    close: async () => {},
    async getComments(filter: CommentsFilter, call: Call = {}) {
      // Ids of annotations are their document's own.
      first ??= JSON.stringify(filter)
      if (JSON.stringify(filter) !== first) return api.getComments(filter, call)
      const body = api
        .text('comments', filter)
        .replace(/"commentText":"(?:[^"\\]|\\.)*"/, `"commentText":"${REFUSED}"`)
      if (call.stats !== undefined) call.stats.calls += 1
      const reply = { httpStatus: 200, retryAfterMs: null, body: Buffer.from(body) }
      return readAnswer(reply, { operation: 'comments', filter, secrets: [] }, call.knownDigest)
    },
  })
}

/** Clean runs of two builds, in turns. */
async function cleanRuns(servers: Servers, other: string): Promise<Measured[]> {
  const place = await openPlace(servers, FOUR_THOUSAND)
  const programs = [
    join(import.meta.dirname, '../../../src/cli/main.js'),
    join(other, 'dist/src/cli/main.js'),
  ] as const
  const first: number[][] = [[], []]
  const again: number[][] = [[], []]
  try {
    for (let time = 0; time < OTHER_TIMES; time++) {
      for (const [at, program] of programs.entries()) {
        const runs = await runsOf(servers, place, program)
        first[at]?.push(runs.first)
        again[at]?.push(runs.again)
      }
    }
  } finally {
    await place.close()
  }
  return [
    ratioOf('odd-records.clean-first', 'first load', first),
    ratioOf('odd-records.clean-again', 'nothing changed', again),
  ]
}

function ratioOf(name: string, what: string, [ours = [], theirs = []]: number[][]): Measured {
  const ratios = ours.map((ms, time) => ms / (theirs[time] as number))
  return {
    table: {
      title: `4,200 calls, 40,000 comments, ${what}`,
      head: ['', 'CPU ms of the process'],
      rows: [
        ['this checkout', short(median(ours))],
        ['the other build', short(median(theirs))],
      ],
    },
    figure: figure(name, `CPU of a run, ${what} / of the other build`, ratios, { better: 'lower' }),
  }
}

async function runsOf(servers: Servers, place: Place, program: string) {
  const name = `cs_bench_${randomBytes(5).toString('hex')}`
  await servers.admin.query(`create database ${name}`)
  const database = { url: servers.urlOf(name) } as Parameters<typeof environmentOf>[0]['database']
  const environment = environmentOf({ ...place, database }, 'postgres', 64)
  try {
    for (const command of [['migrate'], ['catalog', 'import', place.catalogFile]])
      execFileSync(process.execPath, [program, ...command], {
        env: { ...process.env, ...environment },
        stdio: 'ignore',
      })
    const cpuMs = async () => Number((await peakOfRun(environment, program)).run['cpuMs'] as number)
    return { first: await cpuMs(), again: await cpuMs() }
  } finally {
    await servers.admin.query(`drop database ${name} with (force)`)
  }
}
