/** Handlers of SIGINT and SIGTERM by turn: the first signal calls the first one, further ones the last. */
export function onSignals(...handlers: readonly ((signal: NodeJS.Signals) => void)[]): () => void {
  let received = 0
  const listener = (signal: NodeJS.Signals) => {
    handlers[Math.min(received, handlers.length - 1)]?.(signal)
    received += 1
  }
  for (const name of SIGNALS) process.on(name, listener)
  return () => {
    for (const name of SIGNALS) process.off(name, listener)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
