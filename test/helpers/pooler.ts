import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import pg from 'pg'
import { urlWith } from './database.ts'

/** What PgBouncer takes in a start-up message; it refuses everything else (its documentation, ignore_startup_parameters). */
const TAKEN = [
  'user',
  'database',
  'application_name',
  'client_encoding',
  'datestyle',
  'timezone',
  'standard_conforming_strings',
]

/**
 * A stand-in for a pooler before the server of `url`: it answers the start of a connection itself, and gives each client a
 * session of its own, or all of them one, a transaction at a time.
 */
export async function startPooler(url: string, mode: 'session' | 'transaction') {
  const sessions: pg.Client[] = []
  const open = async (): Promise<Session> => {
    const client = new pg.Client(url)
    client.on('error', () => {})
    await client.connect()
    sessions.push(client)
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    stream.removeAllListeners('data')
    return new Session(stream)
  }
  const common = mode === 'transaction' ? await open() : null
  const clients = new Set<Socket>()
  const server = createServer((client) => {
    clients.add(client)
    client.on('error', () => {})
    // A client that is gone is no fault.
    serve(client, () => common ?? open()).catch(() => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: urlWith(url, { port: (server.address() as AddressInfo).port }),
    async close() {
      server.close()
      for (const client of clients) client.destroy()
      for (const session of sessions) await session.end()
    },
  }
}

/** A session of the server, which one client uses at a time. */
class Session {
  #line: Promise<unknown> = Promise.resolve()
  #user: { client: Socket; release: () => void } | null = null
  readonly #stream: Socket

  constructor(stream: Socket) {
    this.#stream = stream
    let rest = Buffer.alloc(0)
    stream.on('data', (chunk: Buffer) => {
      this.#user?.client.write(chunk)
      rest = Buffer.concat([rest, chunk])
      while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
        const end = rest.readInt32BE(1) + 1
        // ReadyForQuery outside of a transaction.
        if (rest.toString('latin1', 0, 1) === 'Z' && rest.toString('latin1', 5, 6) === 'I')
          this.#free()
        rest = rest.subarray(end)
      }
    })
  }

  async send(client: Socket, chunk: Buffer): Promise<void> {
    if (this.#user?.client !== client) {
      const before = this.#line
      let release = () => {}
      this.#line = new Promise<void>((resolve) => (release = resolve))
      await before
      this.#user = { client, release }
    }
    this.#stream.write(chunk)
  }

  #free(): void {
    const user = this.#user
    this.#user = null
    user?.release()
  }
}

async function serve(client: Socket, open: () => Session | Promise<Session>): Promise<void> {
  let session: Session | null = null
  for await (const chunk of client as AsyncIterable<Buffer>) {
    if (session !== null) {
      // Terminate.
      if (chunk.toString('latin1', 0, 1) === 'X') return
      await session.send(client, chunk)
      continue
    }
    const words = chunk.toString('utf8', 8).split('\0')
    const refused = words.find(
      (word, index) => index % 2 === 0 && word !== '' && !TAKEN.includes(word),
    )
    if (refused !== undefined) {
      client.end(message('E', `SFATAL\0C08P01\0Munsupported startup parameter: ${refused}\0\0`))
      return
    }
    session = await open()
    client.write(
      Buffer.concat([
        message('R', int32(0)),
        message('K', int32(randomInt(1e9)), int32(1)),
        message('Z', 'I'),
      ]),
    )
  }
}

/** A message of PostgreSQL's protocol (its documentation, Message Formats). */
function message(type: string, ...parts: (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)))
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
