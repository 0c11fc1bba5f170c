import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quarterOfAllCallsTenWays } from '../service/faults.ts'
import type { FaultRule } from '../service/faults.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { buildWorker } from '../helpers/worker-process.ts'
import type { WorkerBuild, WorkerProcess } from '../helpers/worker-process.ts'
import { deletedComments, expectNothingLost, expectServed } from './expect-served.ts'
import { openRig } from './rig.ts'
import type { Rig } from './rig.ts'

/** What the property may take; what it did not get to is another seed's. */
const TIME_MS = 45_000

const worlds = fc.record({
  seed: fc.nat(1_000_000),
  organizations: fc.integer({ min: 1, max: 3 }),
  documentsPerOrganization: fc.integer({ min: 1, max: 3 }),
  annotationsPerDocument: fc.integer({ min: 1, max: 8 }),
  commentsPerAnnotation: fc.integer({ min: 1, max: 5 }),
  usersPerOrganization: fc.integer({ min: 2, max: 25 }),
  groupsPerOrganization: fc.integer({ min: 0, max: 2 }),
})

/** Faults by name, so that a counterexample can be read. */
const FAULTS: Readonly<Record<string, FaultRule[]>> = {
  none: [],
  'a quarter of all calls': quarterOfAllCallsTenWays(0),
  refusals: [{ kind: 'forbidden', rate: 0.1 }],
  'halved listings': [{ kind: 'half-with-next-page-token', rate: 0.3 }],
  'wrong lengths': [{ kind: 'wrong-length', rate: 0.5 }],
  'empty listings': [
    { kind: 'empty-list', rate: 0.2, match: ({ data }) => !('commentIds' in data) },
  ],
  'bodies cut off for good': [{ kind: 'cut-body', rate: 0.7 }],
  'unknown codes': [{ kind: 'unknown-error-code', rate: 0.3 }],
}

/** Answers that lack what was never seen before: nobody can tell them from the truth, so a run over them may succeed. */
const UNTRUE = ['empty listings', 'halved listings']

const steps = fc.array(
  fc.record({
    changes: fc.integer({ min: 0, max: 6 }),
    seed: fc.nat(1_000_000),
    fault: fc.constantFrom(...Object.keys(FAULTS)),
    /** A worker is killed in another run before, once it made so many calls. */
    killAfterCalls: fc.option(fc.integer({ min: 1, max: 40 }), { freq: 1 }),
  }),
  { minLength: 2, maxLength: 4 },
)

let build: WorkerBuild
beforeAll(async () => {
  build = await buildWorker()
})
afterAll(() => build?.killAll())

test(
  'whatever the world, its changes, the faults and the kills: tables equal after each success, nothing lost without evidence after the rest',
  async () => {
    let examples = 0
    await fc.assert(
      fc.asyncProperty(worlds, steps, async (world, each) => {
        const database = await createTestDatabase()
        const rig = await openRig({ databaseUrl: database.url }, { world })
        const workers = new Workers(rig)
        const everDeleted = new Set<string>()
        try {
          for (const step of each) await runStep(database, rig, workers, everDeleted, step)
          rig.standIn.setFaults([])
          await runAndExpect(database, rig, workers, everDeleted)
          examples += 1
        } finally {
          build.killAll()
          await rig.close()
          await database.drop()
        }
      }),
      { numRuns: 1000, interruptAfterTimeLimit: TIME_MS, endOnFailure: true },
    )
    expect(examples).toBeGreaterThan(0)
  },
  TIME_MS * 3,
)

async function runStep(
  database: TestDatabase,
  rig: Rig,
  workers: Workers,
  everDeleted: Set<string>,
  step: { changes: number; seed: number; fault: string; killAfterCalls: number | null },
): Promise<void> {
  try {
    randomChanges(rig.world, { count: step.changes, seed: step.seed })
  } catch {
    // A tiny world may have no place for so many: then it is as it is.
  }
  for (const key of deletedComments(rig.world)) everDeleted.add(key)
  rig.standIn.setFaults(FAULTS[step.fault] ?? [])
  if (step.killAfterCalls !== null) await killInMidRun(rig, workers, step.killAfterCalls)
  await runAndExpect(database, rig, workers, everDeleted, !UNTRUE.includes(step.fault))
}

/** Leaves a run behind that nobody works on: the queue brings it again in the middle of what comes after. */
async function killInMidRun(rig: Rig, workers: Workers, afterCalls: number): Promise<void> {
  const calls = rig.standIn.calls.total + afterCalls
  await workers.ensure()
  const runId = await rig.startRun()
  // The run may be over before it comes to that.
  await Promise.race([
    rig.callsReach(calls).catch(() => {}),
    rig.settled(runId, 180_000).catch(() => {}),
  ])
  await workers.kill()
}

async function runAndExpect(
  database: TestDatabase,
  rig: Rig,
  workers: Workers,
  everDeleted: ReadonlySet<string>,
  isTruthful = true,
): Promise<void> {
  await workers.ensure()
  const run = await rig.settled(await rig.startRun(), 180_000)
  await expectNothingLost(database, rig.world, everDeleted)
  expect(['succeeded', 'partial', 'failed']).toContain(run.status)
  if (run.status === 'succeeded' && isTruthful) await expectServed(database, rig.world)
}

/** One worker at a time. */
class Workers {
  readonly #rig: Rig
  #worker: WorkerProcess | null = null

  constructor(rig: Rig) {
    this.#rig = rig
  }

  async ensure(): Promise<void> {
    this.#worker ??= await build.start({
      ...this.#rig.environment,
      SYNC_RETRIES: '3',
      LOG_LEVEL: 'silent',
    })
  }

  async kill(): Promise<void> {
    await this.#worker?.kill()
    this.#worker = null
  }
}
