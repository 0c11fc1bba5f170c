import { writeSync } from 'node:fs'
import { pino } from 'pino'
import type { DestinationStream, Logger } from 'pino'
import { printable } from './printable.ts'

export type Log = Logger

/** Members that hold a credential wherever they occur. */
const SECRET_MEMBERS = [
  'apiKey',
  'authToken',
  'token',
  'password',
  'headers',
  'url',
  'connectionString',
  'databaseUrl',
  'redisUrl',
  'queueDatabaseUrl',
  'catalogDatabaseUrl',
]

/**
 * The root logger: JSON lines, on stderr unless said otherwise (stdout belongs to what a command prints).
 * Members that could hold a credential are censored whatever logs them; that is the second line of defence,
 * the first is that no credential is ever handed to a log line.
 */
export function createLog(level: string, destination: DestinationStream = linesTo(STDERR)): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      // JSON escapes C0 by itself; the rest would reach a terminal that shows the log.
      hooks: { streamWrite: (line) => printable(line, '\n') },
      redact: {
        paths: SECRET_MEMBERS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: '[secret]',
      },
    },
    destination,
  )
}

const STDERR = 2
/** A reader that is slower than the log gets this long; after that, lines are lost until it reads again. */
const FULL_PIPE_TRIES = 100
const FULL_PIPE_PAUSE_MS = 10

/**
 * Writes each line at once, and never throws: a full disk or a closed pipe must not end the work that is logged. Lines that
 * cannot be written are counted, and the count is logged before the next line that can be written.
 * @param fd an open file descriptor
 */
export function linesTo(fd: number): DestinationStream {
  let lost = 0
  /** The end of a line of which only the beginning could be written. */
  let rest: Buffer = Buffer.alloc(0)
  return {
    write(line) {
      const isLate = lost > 0 || rest.length > 0
      const bytes = Buffer.concat([
        rest,
        Buffer.from(`${lost === 0 ? '' : linesLost(lost)}${line}`),
      ])
      const written = writeMost(fd, bytes, isLate ? 0 : FULL_PIPE_TRIES)
      if (written > rest.length) {
        lost = 0
        rest = bytes.subarray(written)
      } else {
        lost += 1
        rest = rest.subarray(written)
      }
    },
  }
}

/** Writes until `fd` takes no more. @param tries how often to wait for the reader of a full pipe. @returns bytes written */
function writeMost(fd: number, bytes: Buffer, tries: number): number {
  let written = 0
  for (let left = tries; written < bytes.length;)
    try {
      written += writeSync(fd, bytes, written)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || left-- === 0) break
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_PAUSE_MS)
    }
  return written
}

function linesLost(lines: number): string {
  const time = new Date().toISOString()
  return `${JSON.stringify({ level: 'warn', time, lines, msg: 'log lines could not be written' })}\n`
}

/** The log with the run's id in every line, once. */
export function logOfRun(log: Log, runId: string): Log {
  return log.bindings()['runId'] === runId ? log : log.child({ runId })
}

/**
 * Just these members: errors of drivers carry their client, or the command with its arguments, password and all. What
 * PostgreSQL (class 22, data exception) or a parser could not use, it quotes: that may be a record.
 */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, stack } = error
  const { code = (error.cause as { code?: unknown } | undefined)?.code } = error as {
    code?: unknown
  }
  const quotes =
    /^22...$/.test(String(code)) || [error, error.cause].some((each) => each instanceof SyntaxError)
  const message = quotes ? error.message.replace(/".*"/s, '"..."') : error.message
  return {
    name,
    message,
    code,
    stack: stack?.replace(error.message, () => message),
  }
}

const REPEAT_MS = 60_000

/**
 * Logs a fault that repeats, such as a loop whose store refuses: when it begins, once a minute while it lasts, and when it
 * is over. A loop may fail a thousand times a second.
 */
export class RepeatedFault {
  readonly #log: Log
  readonly #what: string
  readonly #now: () => number
  #times = 0
  #sinceMs = 0
  #loggedMs = 0
  #last: unknown

  /**
   * @param what fails, such as 'heartbeat'
   * @param now milliseconds of a clock that only moves forward
   */
  constructor(log: Log, what: string, now: () => number = () => performance.now()) {
    this.#log = log
    this.#what = what
    this.#now = now
  }

  /** The newest error; null while there is no fault. */
  get error(): unknown {
    return this.#times === 0 ? null : this.#last
  }

  failed(error: unknown): void {
    // One error may arrive over several listeners.
    if (this.#times > 0 && error === this.#last) return
    this.#last = error
    this.#times += 1
    const nowMs = this.#now()
    if (this.#times === 1) {
      this.#sinceMs = nowMs
      this.#loggedMs = nowMs
      this.#log.warn({ err: error }, `${this.#what} fails`)
    } else if (nowMs - this.#loggedMs >= REPEAT_MS) {
      this.#loggedMs = nowMs
      this.#log.warn({ err: error, times: this.#times }, `${this.#what} still fails`)
    }
  }

  recovered(): void {
    if (this.#times === 0) return
    const lastedMs = Math.round(this.#now() - this.#sinceMs)
    this.#log.info({ times: this.#times, lastedMs }, `${this.#what} works again`)
    this.#times = 0
    this.#last = undefined
  }
}
