import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRig } from '../faults/rig.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { QUEUE_KINDS, isMissing } from '../helpers/live.ts'
import { randomPrefix, redisUrl } from '../helpers/redis.ts'
import { buildWorker } from '../helpers/worker-process.ts'
import type { WorkerBuild } from '../helpers/worker-process.ts'
import { Nights } from './nights.ts'

/** As many nights as `npm run fuzz -- --nights` asks for, in a large world; else three in a small one. */
const ASKED = process.env['FUZZ_NIGHTS']
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const SMALL = {
  seed: SEED,
  organizations: 3,
  documentsPerOrganization: 5,
  annotationsPerDocument: 10,
  commentsPerAnnotation: 5,
  usersPerOrganization: 12,
  groupsPerOrganization: 1,
}
/** 2,030 scopes: one more would be none of a thousand. */
const LARGE = {
  seed: SEED,
  organizations: 10,
  documentsPerOrganization: 10,
  annotationsPerDocument: 19,
  commentsPerAnnotation: 11,
  usersPerOrganization: 30,
  groupsPerOrganization: 2,
}
const NIGHTS = ASKED === undefined ? 3 : Math.ceil(Number(ASKED) / QUEUE_KINDS.length)
const WORLD = ASKED === undefined ? SMALL : LARGE
/** test/faults/frozen freezes a worker at each state of a transaction. */
const HARM = ASKED === undefined ? { kills: 0.5, freezes: 0 } : { kills: 0.25, freezes: 0.04 }

let build: WorkerBuild
beforeAll(async () => {
  build = await buildWorker()
})
afterAll(() => build?.killAll())

test.each(QUEUE_KINDS)(
  'poisoned nights with the queue on %s: each run ends, no neighbour is lost, every call is counted, and a clean night mends the rest',
  async (queue) => {
    if (isMissing(queue)) return
    const lines = [`FUZZ_SEED=${SEED}`]
    const tell = (line: string) => void (ASKED ? console.log(line) : lines.push(line))
    const onRedis =
      queue === 'redis' ? { redisUrl: redisUrl() as string, queuePrefix: randomPrefix() } : {}
    const database = await createTestDatabase()
    const rig = await openRig(
      { databaseUrl: database.url, ...onRedis },
      { world: WORLD, standIn: { logCalls: 50_000, seed: SEED } },
    )
    try {
      const options = { nights: NIGHTS, seed: SEED, changes: 100, ...HARM, tell }
      const complaints = await new Nights(rig, build, options).run()
      expect(complaints, lines.join('\n')).toEqual([])
    } finally {
      build.killAll()
      await rig.close()
      await database.drop()
    }
  },
  86_400_000,
)
