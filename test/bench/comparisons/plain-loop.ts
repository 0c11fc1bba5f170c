import { randomBytes } from 'node:crypto'
import { Queue, Worker } from 'bullmq'
import { catalogLines } from '../../../src/demo/catalog.ts'
import { figure, median, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { openPlace } from '../place.ts'
import type { Place } from '../place.ts'
import { PLAIN_TABLES, PlainLoop, documentJobs } from '../plain-loop.ts'
import type { DocumentJob } from '../plain-loop.ts'
import { environmentOf, startProgram } from '../program.ts'
import type { Servers } from '../servers.ts'
import { FOUR_THOUSAND, worldOf } from '../worlds.ts'

const IN_FLIGHT = 64
const RUNS = 5

export const plainLoop: Comparison = {
  name: 'plain-loop',
  title: 'Against the loop that one writes in an afternoon',
  explains:
    'The service answers at once, so what counts is what a program does with an answer. (a) is a BullMQ job a document on Redis that fetches and upserts one row a statement, 64 jobs at a time over 20 connections; (b) is the same with one statement an answer. Both skip what collab-sync does besides: checks, evidence of deletion, history, counts, pace and retries. The loop writes every row again every night; collab-sync looks first, so a run that finds nothing new costs it hashing and parsing. The stand-in shares the two cores and takes about a third of them here.',
  async run(servers) {
    if (servers.redisUrl === null) return { tables: [], figures: [] }
    const place = await openPlace(servers, FOUR_THOUSAND)
    try {
      const one = await loop(place, 'one a row', 3)
      const many = await loop(place, 'multi-row', RUNS)
      const ours = await collabSync(place)
      const row = (name: string, runs: readonly Run[]) => [
        name,
        short(runs[0]?.callsPerS ?? 0),
        short(median(again(runs))),
        short(median(runs.slice(1).map(({ cpuUs }) => cpuUs))),
      ]
      const ratio = (theirs: readonly Run[]) =>
        again(ours).map((rate) => rate / median(again(theirs)))
      return {
        tables: [
          {
            title: '4,200 calls, 40,000 comments, no latency',
            head: ['', 'calls/s first load', 'calls/s again', 'CPU us a call, again'],
            rows: [
              row('(a) one statement a row', one),
              row('(b) one statement an answer', many),
              row('collab-sync', ours),
            ],
          },
        ],
        figures: [
          figure('plain-loop.again', 'calls a second / those of (a), nothing changed', ratio(one), {
            atLeast: 3,
          }),
          figure(
            'plain-loop.first-load',
            'calls a second / those of (a), first load',
            [(ours[0]?.callsPerS ?? 0) / (one[0]?.callsPerS ?? 1)],
            { atLeast: 3 },
          ),
          figure(
            'plain-loop.multi-row',
            'calls a second / those of (b), nothing changed',
            ratio(many),
            {},
          ),
          figure(
            'plain-loop.cpu',
            'CPU of the process a call, nothing changed',
            ours.slice(1).map(({ cpuUs }) => cpuUs),
            { unit: 'us', better: 'lower' },
          ),
        ],
      }
    } finally {
      await place.close()
    }
  },
}

interface Run {
  readonly callsPerS: number
  readonly cpuUs: number
}

function again(runs: readonly Run[]): number[] {
  return runs.slice(1).map(({ callsPerS }) => callsPerS)
}

async function collabSync(place: Place): Promise<Run[]> {
  const database = await place.createDatabase()
  try {
    const program = await startProgram(environmentOf({ ...place, database }, 'redis', IN_FLIGHT))
    const runs: Run[] = []
    for (let run = 0; run <= RUNS; run++) {
      const { calls, wholeMs, cpuMs } = await program.run()
      runs.push({ callsPerS: (calls / wholeMs) * 1000, cpuUs: (cpuMs * 1000) / calls })
    }
    await program.stop()
    return runs
  } finally {
    await database.drop()
  }
}

async function loop(
  place: Place,
  statements: 'one a row' | 'multi-row',
  times: number,
): Promise<Run[]> {
  const database = await place.createDatabase()
  const { standIn, servers } = place
  const headers = {
    'content-type': 'application/json',
    'x-service-api-key': standIn.apiKey,
    'x-service-auth-token': standIn.authToken,
  }
  const ask = async (path: string, data: object) => {
    const answer = await fetch(standIn.url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify({ data }),
    })
    return answer.text()
  }
  try {
    await database.pool.query(PLAIN_TABLES)
    database.pool.options.max = 20
    const plain = new PlainLoop(database.pool, ask, statements)
    const documents = documentJobs(catalogLines(worldOf(FOUR_THOUSAND)))
    const runs: Run[] = []
    for (let run = 0; run < times; run++) {
      plain.calls = 0
      const cpuBefore = process.cpuUsage()
      const startedMs = performance.now()
      await throughBullMq(servers, documents, plain)
      const cpu = process.cpuUsage(cpuBefore)
      runs.push({
        callsPerS: (plain.calls / (performance.now() - startedMs)) * 1000,
        cpuUs: (cpu.user + cpu.system) / plain.calls,
      })
    }
    return runs
  } finally {
    await database.drop()
  }
}

/** A job a document, 64 at a time. */
async function throughBullMq(
  { redisUrl }: Servers,
  documents: readonly DocumentJob[],
  plain: PlainLoop,
): Promise<void> {
  const prefix = `bench-${randomBytes(6).toString('hex')}`
  const connection = { url: redisUrl as string, maxRetriesPerRequest: null }
  const queue = new Queue<DocumentJob>('plain', { connection, prefix })
  await queue.addBulk(documents.map((data) => ({ name: 'document', data })))
  let done = 0
  await new Promise<void>((resolve, reject) => {
    const worker = new Worker<DocumentJob>('plain', ({ data }) => plain.syncDocument(data), {
      connection,
      prefix,
      concurrency: IN_FLIGHT,
    })
    worker.on('failed', (_, error) => reject(error))
    worker.on('completed', () => {
      done += 1
      if (done === documents.length) worker.close().then(resolve, reject)
    })
  })
  await queue.obliterate({ force: true })
  await queue.close()
}
