import { once } from 'node:events'
import { connect } from 'node:net'
import type { NetConnectOpts } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { Redis } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import { EnvironmentError, UsageError } from '../../base/errors.ts'
import type { RepeatedFault } from '../../base/log.ts'

/** Where a queue in Redis is. */
export interface RedisPlace {
  readonly url: string
  /** `QUEUE_PREFIX`. */
  readonly prefix: string
}

/** Called as connections fail and recover; must not throw. */
export type ConnectionWatch = Pick<RepeatedFault, 'failed' | 'recovered'>

/**
 * Errors of a server that is no longer the primary, or not yet: a new connection reaches the primary. Redis before 7 has the
 * code in the middle of the message. After `OOM` and `MISCONF` a new connection does not help.
 */
const OTHER_SERVER = ['READONLY', 'LOADING', 'MASTERDOWN', 'UNBLOCKED']

/**
 * Opens a Redis client that reconnects when its server is no longer the primary. The command that was refused is rejected
 * and not sent again: one of a MULTI would be sent outside of it.
 * @param watch also of the clients that BullMQ duplicates from this one
 */
export function openRedis(
  url: string,
  options: Pick<RedisOptions, 'maxRetriesPerRequest' | 'enableOfflineQueue'>,
  watch: ConnectionWatch,
): Redis {
  const reconnectOnError = ({ message }: Error) =>
    OTHER_SERVER.some((code) => message.includes(code)) ? 1 : false
  return watched(new Redis(url, { ...options, reconnectOnError }), watch)
}

/** BullMQ removes its listeners before it closes a client, and ioredis prints errors without a listener on stderr. */
function watched(redis: Redis, watch: ConnectionWatch): Redis {
  redis.on('error', (error) => watch.failed(error)).on('ready', () => watch.recovered())
  const duplicate = redis.duplicate.bind(redis)
  return Object.assign(redis, {
    duplicate: (override?: Partial<RedisOptions>) => watched(duplicate(override), watch),
  })
}

const CONNECT_MS = 5_000
/** BullMQ needs it. */
const VERSION_MIN = '6.2'

/**
 * Connects to Redis once for `work`; BullMQ would retry without end.
 * @param patienceMs how long the connection and each command may take
 * @throws EnvironmentError where Redis cannot be reached or refuses us; UsageError for a prefix that does not fit a cluster;
 *   what `work` throws
 */
export async function onRedis<T>(
  { url, prefix }: RedisPlace,
  work: (redis: Redis) => Promise<T>,
  patienceMs = CONNECT_MS,
): Promise<T> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: patienceMs,
    commandTimeout: patienceMs,
    // Until it gives up a connection that was never made.
    disconnectTimeout: 100,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    // It calls INFO, which the user may not be allowed to; the script below finds a server that is still loading.
    enableReadyCheck: false,
  })
  let reason = ''
  redis.on('error', (error: Error) => (reason = error.message))
  try {
    await redis.connect()
    // In cluster mode a script may use two keys only where both are in one slot; the scripts of BullMQ use many.
    await redis.eval('return 1', 2, `${prefix}:a`, `${prefix}:b`)
  } catch (error) {
    redis.disconnect()
    reason ||= (error as Error).message
    if (CLOSED.test(reason)) reason = (await readRefusal(redis)) ?? reason
    throw unusable(reason, prefix, error)
  }
  try {
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

/** The connection was made, and the server closed it. */
const CLOSED = /ECONNRESET|EPIPE|Connection is closed/
const REFUSAL_MS = 1_000

/**
 * Reads why a server takes no client (protected mode, maxclients): it sends the reason and closes the connection. A client that
 * sends a command to the closed connection loses the reason, so this sends nothing.
 * @returns the first sentence of the reason; undefined where the server sends none
 */
async function readRefusal({ options }: Redis): Promise<string | undefined> {
  const { host, port, path, tls } = options
  const to = path === undefined ? { host, port } : { path }
  const socket = tls ? connectSecurely({ ...to, ...tls }) : connect(to as NetConnectOpts)
  const late = AbortSignal.timeout(REFUSAL_MS)
  const [bytes] = await once(socket, 'data', { signal: late }).catch(() => [])
  socket.destroy()
  return /^-(.+?)(\. |\r)/.exec(String(bytes))?.[1]
}

function unusable(reason: string, prefix: string, cause: unknown): Error {
  if (reason.includes('CROSSSLOT'))
    return new UsageError(
      `Redis is in cluster mode, where all keys of the queue must be in one slot. Set QUEUE_PREFIX with braces, the same for all programs that enqueue: QUEUE_PREFIX={${prefix}}`,
      { cause },
    )
  const [, node] = /\bMOVED \d+ (\S+)/.exec(reason) ?? []
  if (node !== undefined)
    return new UsageError(
      `Redis is a cluster, and another node has the keys of QUEUE_PREFIX=${prefix}. Set REDIS_URL to the address of that node, ${node}.`,
      { cause },
    )
  return new EnvironmentError(
    `Redis cannot be used: ${reason}. Is it running, and is REDIS_URL right?`,
    { cause },
  )
}

/** Reads INFO of the server, by name; null where the user may not call it. */
export async function redisInfo(redis: Redis): Promise<ReadonlyMap<string, string> | null> {
  let text: string
  try {
    text = await redis.info()
  } catch (error) {
    if ((error as Error).message.includes('NOPERM')) return null
    throw error
  }
  return new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const [, name, value] = /^([^#:]+):(.*)$/.exec(line) ?? []
      return name === undefined || value === undefined ? [] : [[name, value] as const]
    }),
  )
}

/** @throws EnvironmentError where BullMQ cannot use a server of this version */
export function requireVersion(info: ReadonlyMap<string, string> | null): void {
  const version = info?.get('redis_version') ?? VERSION_MIN
  if (version.localeCompare(VERSION_MIN, 'en', { numeric: true }) >= 0) return
  throw new EnvironmentError(
    `Redis is version ${version}. BullMQ needs Redis ${VERSION_MIN} or newer.`,
  )
}
