/**
 * Calls `callback` when `signal` aborts; at once when it has. Returns the function that takes it back.
 * One listener a signal serves all: a job's signal is waited on by hundreds of its calls. It goes with the last of them:
 * Node keeps a signal made of others for as long as somebody listens to it.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback()
    return () => {}
  }
  const { callbacks, forget } = listenersOf.get(signal) ?? listenTo(signal)
  callbacks.add(callback)
  return () => {
    if (callbacks.delete(callback) && callbacks.size === 0) forget()
  }
}

/** Waits `ms`. @throws the signal's reason, as soon as it aborts */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      forget?.()
      resolve()
    }, ms)
    const forget =
      signal &&
      onAbort(signal, () => {
        clearTimeout(timer)
        reject(signal.reason as Error)
      })
  })
}

interface Listeners {
  readonly callbacks: Set<() => void>
  forget(): void
}

const listenersOf = new WeakMap<AbortSignal, Listeners>()

function listenTo(signal: AbortSignal): Listeners {
  const callbacks = new Set<() => void>()
  const callAll = () => callbacks.forEach((call) => call())
  signal.addEventListener('abort', callAll, { once: true })
  const listeners = {
    callbacks,
    forget() {
      signal.removeEventListener('abort', callAll)
      listenersOf.delete(signal)
    },
  }
  listenersOf.set(signal, listeners)
  return listeners
}

interface Waiting {
  resolve(): void
  reject(reason: unknown): void
}

/** A line of callers who wait for something: strictly first come, first served. */
export class WaitLine {
  // A Set keeps the order of arrival and lets the aborted leave from the middle at no cost.
  readonly #waiting = new Set<Waiting>()

  get length(): number {
    return this.#waiting.size
  }

  /** Waits for its turn. @throws the signal's reason when it aborts first: the place is given up */
  join(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal === undefined) {
        this.#waiting.add({ resolve, reject })
        return
      }
      let forget = (): void => {}
      const waiting = {
        resolve: () => {
          forget()
          resolve()
        },
        reject: (reason: unknown) => {
          forget()
          reject(reason as Error)
        },
      }
      this.#waiting.add(waiting)
      forget = onAbort(signal, () => {
        this.#waiting.delete(waiting)
        reject(signal.reason as Error)
      })
    })
  }

  /** Lets the first one go on; false when nobody waits. */
  letOneGo(): boolean {
    for (const first of this.#waiting) {
      this.#waiting.delete(first)
      first.resolve()
      return true
    }
    return false
  }

  /** Sends everybody away with `reason`. */
  dismiss(reason: Error): void {
    const all = [...this.#waiting]
    this.#waiting.clear()
    for (const waiting of all) waiting.reject(reason)
  }
}

/**
 * Milliseconds of a `Retry-After` header: seconds, or a date, counted from the answer's own `Date` where
 * it has one, so that two clocks are not compared. Null where there is none or it cannot be read.
 */
export function retryAfterMsOf(
  retryAfter: string | undefined,
  date: string | undefined,
): number | null {
  if (retryAfter === undefined) return null
  const text = retryAfter.trim()
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  const untilMs = HTTP_DATE.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(untilMs)) return null
  const sentMs = date === undefined ? NaN : Date.parse(date)
  return Math.max(0, untilMs - (Number.isNaN(sentMs) ? Date.now() : sentMs))
}

/** A date starts with the name of its day; `Date.parse` alone would take `-5` for a month. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? /
