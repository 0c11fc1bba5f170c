import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { databasePrefix } from '../helpers/database.ts'
import { QUEUE_KINDS, isMissing } from '../helpers/live.ts'
import { buildWorker } from '../helpers/worker-process.ts'
import type { WorkerBuild } from '../helpers/worker-process.ts'
import { poisonedNights } from './nights.ts'

const WORLD = {
  organizations: 3,
  documentsPerOrganization: 5,
  annotationsPerDocument: 10,
  commentsPerAnnotation: 5,
  usersPerOrganization: 12,
  groupsPerOrganization: 1,
}

let build: WorkerBuild
beforeAll(async () => {
  build = await buildWorker()
})
afterAll(() => build?.killAll())

test.each(QUEUE_KINDS)(
  'three poisoned nights with the queue on %s: each run ends, no neighbour is lost, every call is counted, and a clean night mends the rest',
  async (queue) => {
    if (isMissing(queue)) return
    const lines: string[] = []
    const { complaints } = await poisonedNights(inject('postgresUrl'), {
      queue,
      nights: 3,
      seed: Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31)),
      redisUrl: inject('redisUrl'),
      databasePrefix: databasePrefix(),
      start: (environment) => build.start(environment),
      tell: (line) => lines.push(line),
      world: WORLD,
      kills: 0.5,
      // test/faults/frozen has them at each state of a transaction.
      freezes: 0,
    })
    expect(complaints, lines.join('\n')).toEqual([])
  },
)
