import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { catalogLines } from '../../src/demo/catalog.ts'
import type { WorldOptions } from '../../src/demo/layout.ts'
import type { World } from '../../src/demo/world.ts'
import type { Trigger } from '../../src/schemas/run.ts'
import { closedAtEnd } from '../helpers/closing.ts'
import { openLoaded, settled, startOn } from '../helpers/live.ts'
import type { Live, openLive, QueueKind, RunRow } from '../helpers/live.ts'
import { builtProgram } from '../helpers/program.ts'
import { until } from '../helpers/until.ts'

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

/** A worker as a process of its own: the program as it is built, with `worker-main.ts`. */
export interface WorkerProcess {
  /** Everything it wrote to stderr so far. */
  stderr(): string
  /** SIGSTOP: it stands still, with all that it holds, until it is woken. */
  freeze(): void
  wake(): void
  /** `kill -9`. */
  kill(): Promise<void>
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>
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
  const main = join(await builtProgram(), 'dist/test/faults/worker-main.js')
  const children: ChildProcess[] = []
  closedAtEnd(async () => {
    for (const child of children) child.kill('SIGKILL')
  })
  return {
    ...live,
    async start(settings) {
      const child = spawn(process.execPath, [main], {
        cwd: dirname(main),
        env: { PATH: process.env['PATH'], ...live.environment, LOG_LEVEL: 'debug', ...settings },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      children.push(child)
      return running(child)
    },
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

async function running(child: ChildProcess): Promise<WorkerProcess> {
  const told: string[] = []
  child.stderr?.on('data', (part: Buffer) => told.push(part.toString()))
  const exited = once(child, 'exit') as Promise<[number | null]>
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    child.kill(signal)
    return (await exited)[0]
  }
  const ready = once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data').then(() => true)
  if (!(await Promise.race([ready, exited.then(() => false)]))) {
    throw new Error(`The worker ended with ${child.exitCode}: ${told.join('')}`)
  }
  return {
    stderr: () => told.join(''),
    freeze: () => void child.kill('SIGSTOP'),
    wake: () => void child.kill('SIGCONT'),
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  }
}
