import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { closedAtEnd } from './closing.ts'

/** A TCP relay before a server, so that the server can seem to fail or to be another one. */
export interface Relay {
  readonly port: number
  /** Connections stay open and are accepted, and nothing comes through any more. */
  freeze(): void
  /** As `freeze`, when a client has sent this text. */
  freezeAt(text: string): void
  /** Connections are cut, and further ones are refused. */
  cut(): void
  /** New connections reach the server at this URL; open ones stay with theirs. */
  leadTo(target: string): void
}

/** @param target the server's URL */
export async function startRelay(target: string): Promise<Relay> {
  let reached = new URL(target)
  const sockets: Socket[] = []
  let isFrozen = false
  let freezingText: string | null = null
  const freeze = () => {
    isFrozen = true
    for (const socket of sockets) socket.unpipe().pause()
  }
  const server = createServer((client) => {
    sockets.push(client.on('error', () => {}))
    if (isFrozen) return
    const { hostname: host, port } = reached
    const upstream = connect({ host, port: Number(port) }).on('error', () => client.destroy())
    sockets.push(upstream)
    client.on('data', (sent) => {
      if (freezingText !== null && sent.includes(freezingText)) freeze()
    })
    client.pipe(upstream).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  closedAtEnd(async () => cut())
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (next) => void (reached = new URL(next)),
    freeze,
    freezeAt: (text) => void (freezingText = text),
    cut,
  }
}
