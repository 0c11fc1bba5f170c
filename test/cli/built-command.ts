import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { closedAtEnd } from '../helpers/closing.ts'
import { builtProgram } from '../helpers/program.ts'
import { HostedCommands } from './hosted-commands.ts'
import type { Ended } from './hosted-commands.ts'

/** A command that runs. */
export interface Running {
  child: ChildProcess
  /** Resolves with the match when stderr (or stdout) has shown a text that matches. */
  shows(text: RegExp): Promise<RegExpExecArray>
  ended: Promise<Ended>
}

export type Environment = Record<string, string>

/** A service that is never reached, for commands that need one to be named. */
export const ANY_SERVICE = {
  COLLAB_API_URL: 'http://127.0.0.1:9',
  COLLAB_API_KEY: 'any-key-of-the-tests',
  COLLAB_AUTH_TOKEN: 'any-token-of-the-tests',
}

/** The command as it is built and installed. */
export interface BuiltCommand {
  /** An empty working directory, so that no `.env` is found. */
  directory: string
  /** Runs a command to its end, in a process that has loaded the program already; not for signals, input or traces. */
  run(args: string[], environment?: Environment): Promise<Ended>
  /** The JSON document that a command prints, and its exit code. */
  json(args: string[], environment?: Environment): Promise<{ code: number | null; document: any }>
  /** Runs a command to the end of a process of its own. */
  runProcess(args: string[], environment?: Environment, input?: string): Promise<Ended>
  /** Starts a command. */
  start(args: string[], environment?: Environment): Running
  /** Starts a command as the child of a process, which is `child` and leads their group. */
  startBelowParent(args: string[], environment?: Environment): Running
  /** Starts the stand-in for the service as a process of its own. */
  startStandIn(...flags: string[]): Promise<StandInProcess>
  /** Ends what still runs, and removes its directory; done at the latest when the test or its file ends. */
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

/**
 * The command as it is built.
 * @param program folder of another build than that of the tests
 */
export async function buildCommand(program?: string): Promise<BuiltCommand> {
  const folder = program ?? (await builtProgram())
  // Inside the program's folder, so that what is put there imports the program by its name.
  const directory = await mkdtemp(join(folder, 'work-'))
  const hosted = new HostedCommands(join(folder, 'dist/test/cli/command-host.js'), directory)
  const children: ChildProcess[] = []
  const start = (script: string, args: string[], environment: Environment) => {
    const child = spawn(process.execPath, [join(folder, 'dist', script), ...args], {
      cwd: directory,
      env: whole(environment),
    })
    children.push(child)
    return watch(child)
  }
  return {
    directory,
    start: (args, environment = {}) => start('cli/main.js', args, environment),
    startBelowParent(args, environment = {}) {
      const main = join(folder, 'dist/cli/main.js')
      const child = spawn(process.execPath, ['--eval', PARENT, main, ...args], {
        cwd: directory,
        env: whole(environment),
        detached: true,
      })
      return watch(child)
    },
    run: (args, environment = {}) => hosted.run(args, whole(environment)),
    async json(args, environment = {}) {
      const { code, stdout, stderr } = await hosted.run([...args, '--json'], whole(environment))
      if (stdout === '') throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`)
      return { code, document: JSON.parse(stdout) }
    },
    runProcess(args, environment = {}, input) {
      const running = start('cli/main.js', args, environment)
      running.child.stdin?.end(input)
      return running.ended
    },
    async startStandIn(...flags) {
      const { child } = start('test/service/main.js', ['--log-calls', '10000', ...flags], {})
      if (!child.stdout) throw new Error('no stdout')
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
      return standInProcess(JSON.parse(line))
    },
    remove: closedAtEnd(async () => {
      for (const child of children) if (child.exitCode === null) child.kill('SIGKILL')
      hosted.close()
      await rm(directory, { recursive: true, force: true })
    }),
  }
}

const PARENT = `require('node:child_process').spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit' })`

/** The environment of a command's process. */
function whole(environment: Environment): Environment {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, ...environment }
}

function watch(child: ChildProcess): Running {
  const seen = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      seen[name] += text
      for (const check of waiting) check()
    })
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...seen }))
  return {
    child,
    ended,
    async shows(text) {
      const found = () => text.exec(seen.stdout + seen.stderr)
      const shown = new Promise<RegExpExecArray>((resolve) => {
        const check = () => {
          const match = found()
          if (match !== null) resolve(match)
        }
        waiting.add(check)
        check()
      })
      const early = ended.then(({ code, stderr }) => {
        const match = found()
        if (match !== null) return match
        throw new Error(`it ended with ${code} before it showed ${text}: ${stderr}`)
      })
      return Promise.race([shown, early])
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
