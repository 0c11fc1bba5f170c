import { EnvironmentError } from '../base/errors.ts'

type Hearing = (signal: NodeJS.Signals) => void

/** Who asked to hear signals; the last one does. */
const hearing: Hearing[] = []
/** Signals that nobody has heard yet. */
const held: NodeJS.Signals[] = []
/** A terminal sends its signal to every process in front, and npx passes it on to us once more. */
const ONE_SIGNAL_MS = 1000
let heardAtMs = -Infinity

/**
 * A process that is asked to stop ends within this time, also when PostgreSQL or Redis does not respond: Docker kills a
 * container 10 s after SIGTERM.
 */
const STOP_MAX_MS = 8_000
const TOO_LATE = `did not stop within ${STOP_MAX_MS / 1000} s, so the process exits now: PostgreSQL, Redis or the service does not respond. PostgreSQL keeps all pending work.`
let deadline: NodeJS.Timeout | null = null
let reportDeadline = (signal: NodeJS.Signals, problem: string): number => {
  process.stderr.write(`${signal}: ${problem}\n`)
  return 1
}

/**
 * Replaces the report of a process that did not stop in time.
 * @param report logs the problem; returns the exit code
 */
export function onStopDeadline(report: typeof reportDeadline): void {
  reportDeadline = report
}

/**
 * Hears SIGINT and SIGTERM from here on, and lets none kill the process at its end: where nothing is left to do Node stops
 * hearing signals some milliseconds before it is over, and where it is told to exit it does not. As the first process of a
 * container it would not even end by one that nobody hears.
 * @param endsInOrder true keeps signals for the next {@link onSignals}, for a command that ends in order also while its code
 *   is being loaded; else the process ends where nobody asked to hear them
 */
export function hearSignals({ endsInOrder }: { endsInOrder: boolean }): void {
  if (!endsInOrder) hearing.push(() => process.exit(1))
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, (signal) => {
      const nowMs = performance.now()
      if (nowMs - heardAtMs < ONE_SIGNAL_MS) return
      heardAtMs = nowMs
      const hear = hearing.at(-1)
      if (hear === undefined) held.push(signal)
      else hear(signal)
    })
  let isFlushed = false
  process.on('beforeExit', () => {
    if (isFlushed) process.exit()
    // Another listener, such as that of an OpenTelemetry SDK, may have begun to send what it has: the loop runs empty once more.
    setImmediate(() => (isFlushed = true))
  })
}

/**
 * Handlers of SIGINT and SIGTERM by turn, in place of those before: the first signal calls the first one, further ones the
 * last. Two within a second are one. The first signal also sets the deadline of the stop; without handlers signals have no
 * effect.
 * @returns ends that; those before hear signals again
 */
export function onSignals(...handlers: readonly Hearing[]): () => void {
  let received = 0
  const hear: Hearing = (signal) => {
    // Spans that are not sent by then are lost: an exporter cannot send while the process exits.
    if (handlers.length > 0)
      deadline ??= setTimeout(
        () => process.exit(reportDeadline(signal, TOO_LATE)),
        STOP_MAX_MS,
      ).unref()
    handlers[Math.min(received, handlers.length - 1)]?.(signal)
    received += 1
  }
  hearing.push(hear)
  for (const signal of held.splice(0)) hear(signal)
  return () => {
    const index = hearing.indexOf(hear)
    if (index >= 0) hearing.splice(index, 1)
  }
}

/** The wish that a command end, at its start or later. */
export interface StopWish {
  /** Aborts with the first signal. */
  readonly requested: AbortSignal
  /** The same until `started`: what the start waits for ends at once, with an EnvironmentError. */
  readonly starting: AbortSignal
  started(): void
  forget(): void
}

/** Hears SIGINT and SIGTERM for a command that ends in order whenever they come; handlers as in {@link onSignals}. */
export function stopOnSignals(
  ...[first, ...others]: readonly ((signal: NodeJS.Signals) => void)[]
): StopWish {
  const requested = new AbortController()
  const starting = new AbortController()
  let isStarting = true
  const forget = onSignals(
    (signal) => {
      first?.(signal)
      requested.abort()
      if (isStarting)
        starting.abort(new EnvironmentError(`${signal}: stopped before it had begun.`))
    },
    ...others,
  )
  const started = () => void (isStarting = false)
  return { requested: requested.signal, starting: starting.signal, started, forget }
}

/**
 * Does work that is undone where a signal stops it.
 * @param work must end soon after its signal aborts, whether it rejects or not
 * @throws EnvironmentError that says so where it was stopped; what `work` throws
 */
export async function undoneOnSignal<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController()
  const forget = onSignals((signal) => {
    stopping.abort(new EnvironmentError(`${signal}: stopped. What was not complete is undone.`))
    // Whoever reads it would wait for its end.
    process.stdin.destroy()
  })
  try {
    return await work(stopping.signal)
  } catch (error) {
    stopping.signal.throwIfAborted()
    throw error
  } finally {
    forget()
  }
}
