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
