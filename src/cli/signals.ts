import { EnvironmentError } from '../base/errors.ts'

type Handler = (signal: NodeJS.Signals) => void

/** The last handler receives signals. */
const handlers: Handler[] = []
/** Signals received before there was a handler. */
const pending: NodeJS.Signals[] = []
/** A terminal sends a signal to all foreground processes, and npx forwards it to us once more. */
const ONE_SIGNAL_MS = 1000
let receivedAtMs = -Infinity

/**
 * A process exits within this time after a signal, even if PostgreSQL or Redis does not respond: Docker kills a container 10 s after
 * SIGTERM.
 */
const STOP_MAX_MS = 8_000
const TOO_LATE = `did not stop within ${STOP_MAX_MS / 1000} s, so the process exits now: PostgreSQL, Redis or the service does not respond. PostgreSQL keeps all pending work.`
let deadline: NodeJS.Timeout | null = null
let reportDeadline = (signal: NodeJS.Signals, problem: string): number => {
  process.stderr.write(`${signal}: ${problem}\n`)
  return 1
}

/** Sets the function that logs the problem of a process that did not stop in time, and returns the exit code. */
export function onStopDeadline(report: typeof reportDeadline): void {
  reportDeadline = report
}

/**
 * Handles SIGINT and SIGTERM until the process has exited, so that none of them kills it: Node.js removes its handlers a few
 * milliseconds before a process ends, unless it calls process.exit. The first process of a container would not end by an unhandled
 * signal at all.
 * @param options.isGraceful true keeps signals for the next {@link onSignals}, for a command that stops gracefully also while its code is
 *   loaded; otherwise the process exits if there is no handler
 * @param options.isStartedByNpm true also stops the process, as by SIGTERM, when its parent has ended: npm and npx end at a SIGTERM
 *   without forwarding it
 */
export function handleSignals({
  isGraceful,
  isStartedByNpm = false,
}: {
  isGraceful: boolean
  isStartedByNpm?: boolean
}): void {
  if (isStartedByNpm) stopWithParent()
  if (!isGraceful) handlers.push(() => process.exit(1))
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, (signal) => {
      const nowMs = performance.now()
      if (nowMs - receivedAtMs < ONE_SIGNAL_MS) return
      receivedAtMs = nowMs
      const handler = handlers.at(-1)
      if (handler === undefined) pending.push(signal)
      else handler(signal)
    })
  let isFlushed = false
  process.on('beforeExit', () => {
    if (isFlushed) process.exit()
    // Another listener, such as an exporter of OpenTelemetry, may have started to send data: run the event loop once more.
    setImmediate(() => (isFlushed = true))
  })
}

const PARENT_CHECK_MS = 2_000

function stopWithParent(): void {
  const parent = process.ppid
  // The new parent need not be process 1: it can be a subreaper.
  const checking = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(checking)
    process.emit('SIGTERM', 'SIGTERM')
  }, PARENT_CHECK_MS).unref()
}

/**
 * Replaces the handlers of SIGINT and SIGTERM. The first signal calls the first handler, later signals the last one; two signals
 * within a second count as one. The first signal also starts the deadline of the stop. Without handlers, signals have no effect.
 * @returns restores the previous handlers
 */
export function onSignals(...given: readonly Handler[]): () => void {
  let received = 0
  const handler: Handler = (signal) => {
    // Spans that are not exported by then are lost.
    if (given.length > 0)
      deadline ??= setTimeout(
        () => process.exit(reportDeadline(signal, TOO_LATE)),
        STOP_MAX_MS,
      ).unref()
    given[Math.min(received, given.length - 1)]?.(signal)
    received += 1
  }
  handlers.push(handler)
  for (const signal of pending.splice(0)) handler(signal)
  return () => {
    const index = handlers.indexOf(handler)
    if (index >= 0) handlers.splice(index, 1)
  }
}

/**
 * Handles SIGINT and SIGTERM, as {@link onSignals}, for a command that stops gracefully at any time.
 * @returns `requested` aborts with the first signal; so does `starting` until `started` is called, with an EnvironmentError
 */
export function stopOnSignals(...[first, ...others]: readonly Handler[]) {
  const requested = new AbortController()
  const starting = new AbortController()
  let isStarting = true
  const forget = onSignals(
    (signal) => {
      first?.(signal)
      requested.abort()
      if (isStarting) starting.abort(new EnvironmentError(`${signal}: stopped before the start.`))
    },
    ...others,
  )
  const started = () => void (isStarting = false)
  return { requested: requested.signal, starting: starting.signal, started, forget }
}

/**
 * Executes work that a signal stops and undoes.
 * @param work ends soon after its signal aborts
 * @throws EnvironmentError if it was stopped; the error of `work`
 */
export async function undoneOnSignal<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController()
  const forget = onSignals((signal) => {
    stopping.abort(new EnvironmentError(`${signal}: stopped. Incomplete work was undone.`))
    // Reading standard input does not end by itself.
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
