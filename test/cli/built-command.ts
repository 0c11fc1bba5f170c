import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

/** What a command ended with. */
export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** A command that runs. */
export interface Running {
  child: ChildProcess
  /** Resolves when stderr (or stdout) has shown a text that matches. */
  shows(text: RegExp): Promise<void>
  ended: Promise<Ended>
}

export type Environment = Record<string, string>

/** The command as it is built and installed, in a folder of its own. */
export interface BuiltCommand {
  /** An empty working directory, so that no `.env` is found. */
  directory: string
  /** Runs a command to its end. */
  run(args: string[], environment?: Environment, input?: string): Promise<Ended>
  /** Starts a command. */
  start(args: string[], environment?: Environment): Running
  /** Starts the stand-in for the service as a process of its own. */
  startStandIn(...flags: string[]): Promise<StandInProcess>
  /** Ends what still runs, and removes the folder. */
  remove(): Promise<void>
}

/** What the stand-in counted. */
export interface Counts {
  total: number
  violationCount: number
  inFlight: number
}

export interface StandInProcess {
  annotations: number
  /** The settings that lead to it. */
  environment: Environment
  /** Posts an order to the control address, or asks it for the counts. */
  control(order?: object): Promise<Counts>
  log(): Promise<{ operation: string; data: Record<string, unknown>; status: number }[]>
}

/** Builds the command with tsc into a folder of its own: the test neither trusts an old build nor replaces one. */
export async function buildCommand(): Promise<BuiltCommand> {
  const folder = await mkdtemp(join(tmpdir(), 'collab-sync-cli-'))
  const directory = join(folder, 'work')
  await mkdir(directory)
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await symlink(join(root, 'sql'), join(folder, 'sql'))
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        rootDir: root,
        outDir: join(folder, 'dist'),
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: [join(root, 'src'), join(root, 'jobs'), join(root, 'test/service/main.ts')],
    }),
  )
  const tsc = join(root, 'node_modules/.bin/tsc')
  await run(tsc, ['--project', join(folder, 'tsconfig.json')]).catch((error) => {
    throw new Error(`The command cannot be built:\n${error.stdout}`)
  })
  const children: ChildProcess[] = []
  const start = (script: string, args: string[], environment: Environment) => {
    const child = spawn(process.execPath, [join(folder, 'dist', script), ...args], {
      cwd: directory,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    })
    children.push(child)
    return watch(child)
  }
  return {
    directory,
    start: (args, environment = {}) => start('src/cli/main.js', args, environment),
    run(args, environment = {}, input) {
      const running = start('src/cli/main.js', args, environment)
      running.child.stdin?.end(input)
      return running.ended
    },
    async startStandIn(...flags) {
      const { child } = start('test/service/main.js', ['--log-calls', '10000', ...flags], {})
      if (!child.stdout) throw new Error('no stdout')
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
      return standInProcess(JSON.parse(line))
    },
    async remove() {
      for (const child of children) if (child.exitCode === null) child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function watch(child: ChildProcess): Running {
  const seen = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      seen[name] += text
      for (const look of waiting) look()
    })
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...seen }))
  return {
    child,
    ended,
    async shows(text) {
      const shown = new Promise<void>((resolve) => {
        const look = () => {
          if (text.test(seen.stdout + seen.stderr)) resolve()
        }
        waiting.add(look)
        look()
      })
      const early = ended.then(({ code, stderr }) => {
        if (!text.test(seen.stdout + seen.stderr))
          throw new Error(`it ended with ${code} before it showed ${text}: ${stderr}`)
      })
      await Promise.race([shown, early])
    },
  }
}

function standInProcess(started: Record<string, string> & { annotations: number }): StandInProcess {
  const { controlUrl = '' } = started
  return {
    annotations: started.annotations,
    environment: {
      COLLAB_API_URL: started['url'] ?? '',
      COLLAB_API_KEY: started['apiKey'] ?? '',
      COLLAB_AUTH_TOKEN: started['authToken'] ?? '',
    },
    async control(order) {
      const request = order === undefined ? {} : { method: 'POST', body: JSON.stringify(order) }
      return (await fetch(controlUrl, request)).json() as Promise<Counts>
    },
    log: async () => (await fetch(`${controlUrl}/log`)).json() as never,
  }
}
