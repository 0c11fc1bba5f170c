import { RepeatedFault } from './log.ts'
import type { Log } from './log.ts'

/** Work that is repeated. */
export type Repeated = ReturnType<typeof every>

/** Repeats work, one at a time, until stopped; a failure is logged and does not stop it. */
export function every(ms: number, log: Log, what: string, work: () => Promise<void>) {
  const fault = new RepeatedFault(log, what)
  let running: Promise<void> | null = null
  const now = () =>
    (running ??= work()
      .then(
        () => fault.recovered(),
        (error: unknown) => fault.failed(error),
      )
      .finally(() => (running = null)))
  // Jitter, so that processes started together do not all do it at once.
  const timer = setInterval(() => void now(), ms * (0.9 + Math.random() * 0.2))
  return {
    /** Does it now, unless it is in progress. Resolves when it is done; never rejects. */
    now,
    /** Ends the repetition, after the work in progress. */
    async stop(): Promise<void> {
      clearInterval(timer)
      await running
    },
  }
}
