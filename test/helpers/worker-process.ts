import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const REPOSITORY = resolve(import.meta.dirname, '../..')

/** The program compiled into a directory of its own, so that workers can be processes that a test kills. */
export interface WorkerBuild {
  /** Starts a worker; resolves when it takes jobs. @throws with its stderr where it ends instead */
  start(environment: Readonly<Record<string, string>>): Promise<WorkerProcess>
  /** Kills what still runs. */
  killAll(): void
  /** The same, and removes the directory. */
  remove(): void
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

/** Compiles once; a second or two. */
export function buildWorker(): WorkerBuild {
  const directory = mkdtempSync(join(tmpdir(), 'collab-sync-worker-'))
  const main = 'test/faults/worker-main'
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({
      extends: join(REPOSITORY, 'tsconfig.json'),
      compilerOptions: {
        rootDir: REPOSITORY,
        outDir: directory,
        declaration: false,
        sourceMap: false,
        types: [],
      },
      files: [join(REPOSITORY, `${main}.ts`)],
      include: [],
    }),
  )
  const compiler = join(REPOSITORY, 'node_modules/.bin/tsc')
  execFileSync(compiler, ['-p', directory, '--noCheck'], { stdio: 'inherit' })
  writeFileSync(
    join(directory, 'package.json'),
    JSON.stringify({ type: 'module', imports: { '#sql/*': './sql/*' } }),
  )
  cpSync(join(REPOSITORY, 'sql'), join(directory, 'sql'), { recursive: true })
  symlinkSync(join(REPOSITORY, 'node_modules'), join(directory, 'node_modules'), 'dir')
  const children: ChildProcess[] = []
  const killAll = () => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  }
  return {
    killAll,
    async start(environment) {
      const child = spawnWorker(join(directory, `${main}.js`), environment)
      children.push(child)
      return running(child)
    },
    remove() {
      killAll()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Starts a worker that is compiled already; resolves when it takes jobs. @throws with its stderr where it ends instead */
export async function startWorkerAt(
  main: string,
  environment: Readonly<Record<string, string>>,
): Promise<WorkerProcess> {
  return running(spawnWorker(main, environment))
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
