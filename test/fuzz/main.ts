import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startWorkerAt } from '../helpers/worker-process.ts'
import { Fuzzer } from './fuzz.ts'
import { LARGE_LIMITS, SMALL_LIMITS } from './limits.ts'
import { poisonedNights } from './nights.ts'
import { serverUrl } from './server.ts'
import { shrunk } from './shrink.ts'

const HELP = `npm run fuzz -- --minutes N [--seed N]
npm run fuzz -- --nights N [--queue postgres|redis] [--seed N]

  --minutes N  generated answers against the model for so long (test/fuzz/README.md)
  --nights N   so many poisoned nights of two workers, half of them on each queue, or all on one
  --seed N     begins with this seed; each generation takes the next one

PostgreSQL is that of TEST_DATABASE_URL, or the one on 127.0.0.1:5432; Redis that of REDIS_URL, or the one on 127.0.0.1:6379.`

/** Two batches of annotations in each organization. */
const LAYOUT = { organizations: 3, documents: 15, annotations: 20, groups: 4 }
const NIGHTS = 3
/** Compiled beside this file (run.js). */
const WORKER = join(import.meta.dirname, '../faults/worker-main.js')
/** Differences shown in full. */
const SHOWN = 10

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    nights: { type: 'string' },
    queue: { type: 'string' },
    seed: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
})
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))

if (values.nights !== undefined) {
  const queues = values.queue === undefined ? (['postgres', 'redis'] as const) : [values.queue]
  const each = Math.ceil(Number(values.nights) / queues.length)
  let isSound = true
  for (const queue of queues) {
    const result = await poisonedNights(serverUrl(), {
      queue: queue as 'postgres' | 'redis',
      nights: each,
      seed,
      redisUrl: process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379',
      start: (environment) => startWorkerAt(WORKER, environment),
      tell: console.log,
    })
    isSound &&= result.complaints.length === 0
  }
  process.exitCode = isSound ? 0 : 1
} else if (values.minutes !== undefined && values.help !== true) {
  process.exitCode = await fuzz(Number(values.minutes))
} else {
  console.log(HELP)
}

async function fuzz(minutes: number): Promise<number> {
  const startedMs = performance.now()
  const minutesSince = () => (performance.now() - startedMs) / 60_000
  console.log(`seed ${seed}`)
  const fuzzer = await Fuzzer.open(serverUrl(), LAYOUT)
  const { findings } = fuzzer
  let shown = 0
  try {
    for (let now = seed; minutesSince() < minutes; now++) {
      const before = findings.differences.length
      await fuzzer.generation(now, NIGHTS, [...SMALL_LIMITS, ...LARGE_LIMITS])
      const { bodies, runs, differences, endlessRuns } = findings
      console.log(
        `${minutesSince().toFixed(1)} min, seed ${now}: ${bodies} bodies in ${runs} runs, ${differences.length} differences, ${endlessRuns} endless`,
      )
      for (const found of differences.slice(before)) {
        if (shown++ >= SHOWN) break
        console.log(`DIFFERENCE night ${found.night} ${found.key}: ${found.says}`)
        console.log(await shrunk(serverUrl(), found, NIGHTS))
      }
    }
  } finally {
    await fuzzer.close()
  }
  const { bodies, runs, differences, endlessRuns, workerDied, met } = findings
  console.table([...met].sort().map(([what, times]) => ({ met: what.slice(0, 90), times })))
  console.table([{ bodies, runs, differences: differences.length, endlessRuns, workerDied }])
  return differences.length + endlessRuns + workerDied === 0 ? 0 : 1
}
