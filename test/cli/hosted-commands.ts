import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Order } from './command-host.ts'

/** What a command ended with. */
export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs commands in a process that has loaded the program already, started with the first of them. */
export class HostedCommands {
  readonly #main: string
  readonly #directory: string
  #child: ChildProcess | null = null
  #last: Promise<unknown> = Promise.resolve()

  /** @param main the built `command-host`. @param directory where the commands stand */
  constructor(main: string, directory: string) {
    this.#main = main
    this.#directory = directory
  }

  /** Runs one command after those before it. @param environment the whole of it */
  run(args: readonly string[], environment: Record<string, string>): Promise<Ended> {
    const turn = this.#last.then(() => this.#execute(args, environment))
    this.#last = turn.catch(() => {})
    return turn
  }

  close(): void {
    this.#child?.kill('SIGKILL')
  }

  async #execute(args: readonly string[], environment: Record<string, string>): Promise<Ended> {
    const child = this.#started()
    const mark = `\n${randomUUID()}\n`
    const ended = new AbortController()
    const order: Order = { args, environment, mark }
    const answer = once(child, 'message', { signal: ended.signal })
    const early = once(child, 'exit', { signal: ended.signal }).then(([code, signal]) => {
      throw new Error(`The host of commands ended with ${code ?? signal} in ${args.join(' ')}.`)
    })
    const streams = Promise.all([until(child.stdout, mark), until(child.stderr, mark)])
    child.send(order)
    try {
      const [[code], [stdout, stderr]] = (await Promise.race([
        Promise.all([answer, streams]),
        early,
      ])) as [[number], [string, string]]
      return { code, stdout, stderr }
    } finally {
      ended.abort()
      await Promise.allSettled([answer, early])
    }
  }

  #started(): ChildProcess {
    if (this.#child !== null && this.#child.exitCode === null) return this.#child
    const { PATH = '', HOME = '' } = process.env
    this.#child = fork(this.#main, [], {
      cwd: this.#directory,
      env: { PATH, HOME },
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.setEncoding('utf8')
    return this.#child
  }
}

/** What a stream brings until the mark, which is the last that is written. */
function until(stream: NodeJS.ReadableStream | null, mark: string): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const read = (part: string) => {
      text += part
      if (!text.endsWith(mark)) return
      stream?.off('data', read)
      resolve(text.slice(0, -mark.length))
    }
    stream?.on('data', read)
  })
}
