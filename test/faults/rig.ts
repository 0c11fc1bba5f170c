import { catalogLines } from '../../src/demo/catalog.ts'
import type { WorldOptions } from '../../src/demo/layout.ts'
import type { World } from '../../src/demo/world.ts'
import type { Trigger } from '../../src/schemas/run.ts'
import { closedAtEnd } from '../helpers/closing.ts'
import { openLoaded, settled, startOn } from '../helpers/live.ts'
import type { Live, openLive, QueueKind, RunRow } from '../helpers/live.ts'
import { until } from '../helpers/until.ts'
import { buildWorker } from '../helpers/worker-process.ts'
import type { WorkerProcess } from '../helpers/worker-process.ts'

/** 600 annotations, in more batches than one worker has in hand. */
const WORLD: WorldOptions = {
  seed: 5,
  organizations: 8,
  documentsPerOrganization: 3,
  annotationsPerDocument: 25,
  commentsPerAnnotation: 3,
  usersPerOrganization: 10,
  groupsPerOrganization: 1,
}

/** A stand-in and a database for workers that are processes of their own. */
export interface Rig extends Live {
  /** Starts a worker; it is killed when the rig closes. @throws with its stderr where it ends instead */
  start(settings?: Readonly<Record<string, string>>): Promise<WorkerProcess>
  /** Hands a full run to the queue; its id. */
  startRun(trigger?: Trigger): Promise<string>
  /** Resolves when the service has seen so many calls since the rig was opened. */
  callsReach(count: number): Promise<void>
  /** Waits for the run's end; its row. */
  settled(runId: string, timeoutMs: number): Promise<RunRow>
}

export async function openRig(
  queue: QueueKind,
  options: Parameters<typeof openLive>[1] = {},
): Promise<Rig> {
  const world = { ...WORLD, ...options.world }
  const live = await openLoaded(queue, { ...options, world })
  const build = await buildWorker()
  closedAtEnd(async () => build.killAll())
  return {
    ...live,
    start: (settings) => build.start({ ...live.environment, LOG_LEVEL: 'debug', ...settings }),
    async startRun(trigger) {
      const app = await live.openApp()
      const runId = await startOn(app, {}, trigger)
      await app.close()
      return runId
    },
    async callsReach(count) {
      const { calls } = live.standIn
      await until(`the service saw ${count} calls`, () => calls.total >= count || null)
    },
    settled: (runId, timeoutMs) => settled(live.database, runId, timeoutMs),
  }
}

/** Calls that a full run over an unbroken service makes: each line of its catalog is one scope. */
export function callsNeeded(world: World): number {
  return [...catalogLines(world)].length
}
