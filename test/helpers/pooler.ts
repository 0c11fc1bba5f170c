import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import pg from 'pg'
import { closedAtEnd } from './closing.ts'
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

/** What a pooler says, in the words of the protocol (PostgreSQL documentation, Error and Notice Message Fields). */
export interface PoolerError {
  readonly code: string
  readonly message: string
  /** Poolers do not translate it; a server does. */
  readonly severity?: string
}

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
    return new Session(stream, mode)
  }
  const common = mode === 'transaction' ? await open() : null
  const clients = new Set<Socket>()
  let refusal: Buffer | null = null
  let refused = 0
  const server = createServer((client) => {
    client.on('error', () => {})
    if (refusal !== null) {
      const said = refusal
      refused += 1
      client.once('data', () => client.end(said))
      return
    }
    clients.add(client)
    // A client that is gone is no fault.
    serve(client, () => common ?? open()).catch(() => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: urlWith(url, { port: (server.address() as AddressInfo).port }),
    /** Refuses new clients with this error, and ends those that are connected with it; null serves again. */
    async fail(error: PoolerError | null) {
      refusal = error && fatal(error)
      if (refusal === null) return
      for (const client of clients) client.end(refusal)
      clients.clear()
      for (const session of sessions.splice(0)) await session.end()
    },
    /** Connections that were refused so far. */
    refused: () => refused,
    close: closedAtEnd(async () => {
      server.close()
      for (const client of clients) client.destroy()
      for (const session of sessions) await session.end()
    }),
  }
}

/** A session of the server, which one client uses at a time. */
class Session {
  #line: Promise<unknown> = Promise.resolve()
  #user: { client: Socket; release: () => void } | null = null
  readonly #stream: Socket

  /** A client that holds the session gets what comes between its statements too: notifications. */
  constructor(stream: Socket, mode: 'session' | 'transaction') {
    this.#stream = stream
    let rest = Buffer.alloc(0)
    stream.on('data', (chunk: Buffer) => {
      this.#user?.client.write(chunk)
      rest = Buffer.concat([rest, chunk])
      while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
        const end = rest.readInt32BE(1) + 1
        // ReadyForQuery outside of a transaction.
        if (
          mode === 'transaction' &&
          rest.toString('latin1', 0, 1) === 'Z' &&
          rest.toString('latin1', 5, 6) === 'I'
        )
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
      client.end(fatal({ code: '08P01', message: `unsupported startup parameter: ${refused}` }))
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

function fatal({ code, message: text, severity = 'FATAL' }: PoolerError): Buffer {
  return message('E', `S${severity}\0C${code}\0M${text}\0\0`)
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
