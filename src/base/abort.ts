/**
 * Calls `callback` when `signal` aborts, or at once if it has. Returns the function that unregisters it. The callbacks of a signal
 * share one listener: hundreds of calls wait on the signal of their job, and Node compares each new listener with all others. It
 * is removed with the last callback; Node never collects a composite signal that has listeners.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback()
    return () => {}
  }
  const { callbacks, callAll } = listenerOf.get(signal) ?? listenTo(signal)
  callbacks.add(callback)
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return
    signal.removeEventListener('abort', callAll)
    listenerOf.delete(signal)
  }
}

const listenerOf = new WeakMap<AbortSignal, ReturnType<typeof listenTo>>()

function listenTo(signal: AbortSignal) {
  const callbacks = new Set<() => void>()
  const listener = { callbacks, callAll: () => callbacks.forEach((call) => call()) }
  listenerOf.set(signal, listener)
  signal.addEventListener('abort', listener.callAll, { once: true })
  return listener
}

/** Waits `ms`. @throws the signal's reason, as soon as it aborts */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let forget = (): void => {}
    const timer = setTimeout(() => {
      forget()
      resolve()
    }, ms)
    if (signal === undefined) return
    forget = onAbort(signal, () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}
