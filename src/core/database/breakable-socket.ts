import { setMaxListeners } from 'node:events'
import { Socket } from 'node:net'
import { addAbortSignal } from 'node:stream'

/** A socket for one connection to PostgreSQL, which breaks when the signal aborts: before it is connected, too. */
export function breakableSocket(signal: AbortSignal): Socket {
  const socket = new Socket()
  // Each connection of the process listens; as many as there are is no leak.
  setMaxListeners(0, signal)
  // Once it is connecting: what was destroyed before would be connected all the same.
  setImmediate(() => addAbortSignal(signal, socket))
  return socket
}
