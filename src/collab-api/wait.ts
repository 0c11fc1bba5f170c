/**
 * Calls `callback` when `signal` aborts; at once when it has. Returns the function that takes it back.
 * One listener a signal serves all: a job's signal is waited on by hundreds of its calls.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback()
    return () => {}
  }
  let callbacks = callbacksOf.get(signal)
  if (callbacks === undefined) {
    const fresh = new Set<() => void>()
    signal.addEventListener('abort', () => fresh.forEach((call) => call()), { once: true })
    callbacksOf.set(signal, fresh)
    callbacks = fresh
  }
  const added = callbacks
  added.add(callback)
  return () => added.delete(callback)
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

const callbacksOf = new WeakMap<AbortSignal, Set<() => void>>()
