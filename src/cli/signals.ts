import { EnvironmentError } from '../errors.ts'

/** Signals that came before anybody asked to hear them. */
const held: NodeJS.Signals[] = []
const hold = (signal: NodeJS.Signals) => void held.push(signal)

/**
 * Keeps SIGINT and SIGTERM for the next {@link onSignals}, for a command whose code is still being loaded, and lets none
 * kill the process at its end: where nothing is left to do Node stops hearing signals some milliseconds before it is
 * over, and where it is told to exit it does not.
 */
export function holdSignals(): void {
  for (const name of SIGNALS) process.on(name, hold)
  process.once('beforeExit', () => process.exit())
}

/**
 * Handlers of SIGINT and SIGTERM by turn: the first signal calls the first one, further ones the last.
 * @returns ends that; one more signal is kept like those at the start, so that a command which is done anyway ends in order
 */
export function onSignals(...handlers: readonly ((signal: NodeJS.Signals) => void)[]): () => void {
  let received = 0
  const listener = (signal: NodeJS.Signals) => {
    handlers[Math.min(received, handlers.length - 1)]?.(signal)
    received += 1
  }
  for (const name of SIGNALS) process.on(name, listener).off(name, hold)
  for (const signal of held.splice(0)) listener(signal)
  return () => {
    for (const name of SIGNALS) process.off(name, listener).once(name, hold)
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

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
