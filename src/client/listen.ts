import pRetry from 'p-retry'
import pg from 'pg'
import { EnvironmentError, UsageError } from '../errors.ts'
import type { Log } from '../log.ts'

/** A server that is cut off shows by then: nothing else would tell it from one that has nothing to say. */
const LOOK_MS = 15_000
const PAUSE_MS = { minTimeout: 500, maxTimeout: 30_000 }
/** PostgreSQL cuts a longer name where it listens, and refuses it where it notifies. */
const CHANNEL_BYTES_MAX = 63

/**
 * Hears what is sent to a channel (`pg_notify`) until the signal aborts. A connection that is lost is made anew, and what is
 * sent meanwhile is lost.
 * @param url `postgres://...`
 * @throws UsageError for what is no name of a channel; EnvironmentError where the first connection cannot be made
 */
export async function listenTo(
  { url, channel }: { url: string; channel: string },
  options: { heard(payload: string): void; log: Log; signal: AbortSignal },
): Promise<void> {
  const { log, signal } = options
  if (channel === '' || channel.includes('\0') || Buffer.byteLength(channel) > CHANNEL_BYTES_MAX)
    throw new UsageError(`A channel has a name of 1 to ${CHANNEL_BYTES_MAX} bytes.`)
  const connect = () => openConnection({ url, channel }, options)
  let connection = await connect().catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException
    throw new EnvironmentError(`The database to listen to cannot be used: ${message || code}.`, {
      cause: error,
    })
  })
  log.info({ channel }, 'listening')
  const stopped = new Promise<null>((resolve) => {
    signal.addEventListener('abort', () => resolve(null), { once: true })
    if (signal.aborted) resolve(null)
  })
  for (;;) {
    const reason = await Promise.race([connection.lost, stopped])
    await connection.close()
    if (reason === null) return
    log.warn({ channel, reason }, 'the connection is lost: hints are lost until there is another')
    try {
      connection = await pRetry(connect, {
        retries: Infinity,
        ...PAUSE_MS,
        randomize: true,
        signal,
        // Also what is no error of the network: the server may be on its way up, or a password changed back.
        shouldRetry: () => true,
      })
    } catch (error) {
      if (signal.aborted) return
      throw error
    }
    log.info({ channel }, 'listening again')
  }
}

interface Connection {
  /** Why it can be used no more. */
  readonly lost: Promise<string>
  close(): Promise<void>
}

async function openConnection(
  { url, channel }: { url: string; channel: string },
  { heard }: { heard(payload: string): void },
): Promise<Connection> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'collab-sync hint',
    connectionTimeoutMillis: LOOK_MS,
    query_timeout: LOOK_MS,
    keepAlive: true,
  })
  let looks: NodeJS.Timeout | undefined
  const lost = new Promise<string>((resolve) => {
    client.on('error', ({ message }) => resolve(message))
    client.on('end', () => resolve('the server ended it'))
    looks = setInterval(() => {
      client.query('select 1').catch(({ message }: Error) => resolve(message))
    }, LOOK_MS)
  })
  const close = async () => {
    clearInterval(looks)
    // Where the server is gone nobody answers a goodbye.
    await Promise.race([client.end(), lost]).catch(() => {})
  }
  client.on('notification', ({ payload = '' }) => heard(payload))
  try {
    await client.connect()
    await client.query(`listen ${client.escapeIdentifier(channel)}`)
    return { lost, close }
  } catch (error) {
    await close()
    throw error
  }
}
