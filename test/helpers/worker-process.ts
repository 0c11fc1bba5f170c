import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { builtProgram } from './program.ts'

/** The built program, so that workers can be processes that a test kills. */
export interface WorkerBuild {
  /** Starts a worker; resolves when it takes jobs. @throws with its stderr where it ends instead */
  start(environment: Readonly<Record<string, string>>): Promise<WorkerProcess>
  /** Kills what still runs. */
  killAll(): void
}

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

/** The program built with `test/faults/worker-main.ts`. */
export async function buildWorker(): Promise<WorkerBuild> {
  const main = join(await builtProgram(), 'dist/test/faults/worker-main.js')
  const children: ChildProcess[] = []
  const killAll = () => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  }
  return {
    killAll,
    async start(environment) {
      const child = spawnWorker(main, environment)
      children.push(child)
      return running(child)
    },
  }
}

function spawnWorker(main: string, environment: Readonly<Record<string, string>>): ChildProcess {
  return spawn(process.execPath, [main], {
    cwd: dirname(main),
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
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
