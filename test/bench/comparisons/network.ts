import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { Pool } from 'undici'
import { figure, median, short } from '../bench.ts'
import type { Comparison, Figure } from '../bench.ts'
import { COMMAND } from '../child.ts'
import { openPlace } from '../place.ts'
import type { Place } from '../place.ts'
import { environmentOf, startProgram } from '../program.ts'
import type { QueueKind } from '../program.ts'
import { FOUR_THOUSAND } from '../worlds.ts'

const LATENCY_MS = 40
const IN_FLIGHT = 64
const RUNS = 7
const CALLS_ALONE = 50

export const network: Comparison = {
  name: 'network',
  title: 'A whole run against the limit of the network',
  explains:
    'The service waits 40 ms before each answer and 64 calls are in flight, so calls x 40 ms / 64 is the least a run can take. With timers and sockets a call that is alone takes a little longer, so that not even calls without any work around them reach the limit. The share of it that a whole run reaches is measured from the first call until the run is settled by its last commit, beside a bare loop that makes the same calls with the same HTTP client and throws the answers away: what that loses besides is the stand-in itself, which shares the two cores. An answer gives its place to the next call before it is read, and answers are read a few at a time with the sockets looked after in between: read as they came, those of one moment would keep each other, and the calls after them, waiting.',
  async run(servers) {
    const place = await openPlace(servers, FOUR_THOUSAND, { latencyMs: LATENCY_MS })
    const rows: (string | number)[][] = []
    const figures: Figure[] = []
    try {
      const aloneMs = await latencyAlone(place)
      rows.push([`a call alone, ${short(aloneMs)} ms`, short(LATENCY_MS / aloneMs), '', ''])
      const bare = await bareLoop(place)
      rows.push(['bare loop, answers thrown away', short(median(bare)), '', ''])
      figures.push(figure('network.bare-loop', 'bare HTTP loop / network limit', bare, {}))
      for (const queue of ['redis', 'postgres'] as const) {
        if (queue === 'redis' && servers.redisUrl === null) continue
        const { first, again, startUpMs } = await wholeRuns(place, queue)
        rows.push([`first load, ${queue} queue`, short(first), '', ''])
        rows.push([
          `run again, ${queue} queue`,
          short(median(again)),
          Math.min(...again).toFixed(3),
          short(startUpMs[0] ?? 0),
        ])
        figures.push(
          figure(`network.again.${queue}`, 'whole run / network limit', again, {
            atLeast: queue === 'redis' ? 0.9 : 0.85,
          }),
          figure(
            `network.first-load.${queue}`,
            'first load, cold process / network limit',
            [first],
            {},
          ),
          figure(`network.start-up.${queue}`, '`run`: process start to first call', startUpMs, {
            unit: 's',
            atMost: 1.5,
          }),
        )
      }
    } finally {
      await place.close()
    }
    const table = {
      title: '40 ms a call, 64 in flight, 4,260 calls',
      head: ['', 'share of the limit', 'lowest', 'start-up s'],
      rows,
    }
    return { tables: [table], figures }
  },
}

async function wholeRuns(place: Place, queue: QueueKind) {
  const database = await place.createDatabase()
  const environment = environmentOf({ ...place, database }, queue, IN_FLIGHT)
  try {
    const program = await startProgram(environment)
    const shares: number[] = []
    for (let run = 0; run < RUNS; run++) {
      const { calls, fromFirstCallMs } = await program.run()
      shares.push((calls * LATENCY_MS) / IN_FLIGHT / fromFirstCallMs)
    }
    await program.stop()
    const startUpMs: number[] = []
    for (let run = 0; run < 3; run++) startUpMs.push(await startUp(place, environment))
    return { first: shares[0] ?? 0, again: shares.slice(1), startUpMs }
  } finally {
    await database.drop()
  }
}

/** Seconds from starting the process of `collab-sync run` until the stand-in hears of it. */
async function startUp({ standIn }: Place, environment: Record<string, string>): Promise<number> {
  await standIn.control({ resetCalls: true })
  const startedMs = performance.now()
  const child = spawn(process.execPath, [COMMAND, 'run', '--json'], {
    env: { ...process.env, ...environment },
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  while ((await standIn.control()).total === 0) {
    if (child.exitCode !== null)
      throw new Error(`collab-sync run ended with ${child.exitCode} before its first call.`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const seconds = (performance.now() - startedMs) / 1000
  child.kill('SIGTERM')
  await ended
  return seconds
}

/** Milliseconds that a call takes where no other is in flight. */
async function latencyAlone(place: Place): Promise<number> {
  const loop = await openBareLoop(place, 1)
  const tookMs: number[] = []
  for (let call = 0; call < CALLS_ALONE; call++) tookMs.push(await loop.run(1))
  await loop.close()
  return median(tookMs)
}

async function bareLoop(place: Place): Promise<number[]> {
  const loop = await openBareLoop(place, IN_FLIGHT)
  const { calls } = loop
  const shares: number[] = []
  for (let run = 0; run < RUNS; run++)
    shares.push((calls * LATENCY_MS) / IN_FLIGHT / (await loop.run(calls)))
  await loop.close()
  return shares.slice(1)
}

/** The calls of a run without a program around them. */
async function openBareLoop({ standIn, catalogFile }: Place, inFlight: number) {
  const filters = (await readFile(catalogFile, 'utf8'))
    .split('\n')
    .filter((line) => line.includes('annotationId'))
  const pool = new Pool(new URL(standIn.url).origin, { connections: inFlight, pipelining: 1 })
  const path = '/v1/commentannotations/comments/get'
  const headers = {
    'content-type': 'application/json',
    'x-service-api-key': standIn.apiKey,
    'x-service-auth-token': standIn.authToken,
  }
  return {
    calls: filters.length,
    close: () => pool.close(),
    /** Makes some of the calls. @returns milliseconds */
    async run(calls: number): Promise<number> {
      const line = filters.slice(0, calls)
      const startedMs = performance.now()
      const caller = async () => {
        for (let filter = line.pop(); filter !== undefined; filter = line.pop()) {
          const answer = await pool.request({
            method: 'POST',
            path,
            headers,
            body: `{"data":${filter}}`,
          })
          await answer.body.arrayBuffer()
        }
      }
      await Promise.all(Array.from({ length: inFlight }, caller))
      return performance.now() - startedMs
    },
  }
}
