import { createHash, createHmac } from 'node:crypto'
import pRetry from 'p-retry'
import { fetch } from 'undici'
import type { EnvHttpProxyAgent, Response } from 'undici'
import { UsageError } from '../../base/errors.ts'
import { hasProxy, openProxies } from '../../base/proxy.ts'
import { userAgent } from '../../base/version.ts'
import { DEFAULT_TYPES } from '../../schemas/notification-type.ts'
import type { ReceiverAddress } from '../../schemas/notification-type.ts'

/** Time limit of one request. */
const CALL_MS = 10_000
/** Further attempts within a few seconds. If they fail too, the message is sent again later. */
const RETRIES = 2
/** The longest Retry-After that is honoured. */
const WAIT_MAX_S = 3600

/** Why a receiver did not accept a message, and how many seconds to wait. */
export class PostError extends Error {
  override name = 'PostError'
  readonly isWorthRetrying: boolean
  readonly waitS: number

  constructor(message: string, options: { isWorthRetrying: boolean; waitS?: number }) {
    super(message)
    this.isWorthRetrying = options.isWorthRetrying
    this.waitS = options.waitS ?? 0
  }
}

export interface Post {
  /** The same in every attempt, so that the receiver can drop duplicates. */
  readonly id: string
  /** JSON; null for a heartbeat, which is a GET without a body. */
  readonly body: string | null
}

/**
 * Posts a message, in up to three attempts, or pings a heartbeat, in one attempt. Redirects are not followed, because their
 * targets are not configured.
 * @param options.secret `whsec_...`; the message is not signed without it
 * @param options.signal ends the pauses between attempts, but no request, because the receiver may have accepted it
 * @throws PostError if the receiver does not accept it or a proxy setting is wrong; it never contains the address
 */
export async function postMessage(
  receiver: Receiver,
  post: Post,
  { secret, signal }: { secret: string | undefined; signal: AbortSignal },
): Promise<void> {
  try {
    await pRetry(() => postOnce(receiver, post, secret), {
      retries: receiver.shape === 'heartbeat' ? 0 : RETRIES,
      minTimeout: 500,
      randomize: true,
      signal,
      shouldRetry: ({ error }) => error instanceof PostError && error.isWorthRetrying,
    })
  } catch (error) {
    if (error instanceof PostError) throw error
    // The signal aborted between two attempts.
    throw new PostError('stopped', { isWorthRetrying: true })
  }
}

/** One attempt of {@link postMessage}. @returns the status of the response, such as `HTTP 204` */
export async function postOnce(
  { shape, url }: ReceiverAddress,
  post: Post,
  secret: string | undefined,
): Promise<string> {
  let response: Response
  let text = ''
  try {
    response = await fetch(url, {
      ...(hasProxy(url) ? { dispatcher: (proxies ??= openProxies()) } : {}),
      method: post.body === null ? 'GET' : 'POST',
      redirect: 'manual',
      headers: {
        'user-agent': userAgent(),
        ...(post.body !== null && {
          'content-type': 'application/json',
          'webhook-id': post.id,
          ...(secret && signatureHeaders(secret, { ...post, body: post.body }, new Date())),
        }),
      },
      body: post.body,
      signal: AbortSignal.timeout(CALL_MS),
    })
    if (shape === 'teams' && response.ok) text = await response.text()
    else await response.body?.cancel()
  } catch (error) {
    throw new PostError(networkProblem(error), {
      isWorthRetrying: !(error instanceof UsageError),
    })
  }
  if (!response.ok) throw refusal(response, response.status, `HTTP ${response.status}`)
  // Incoming webhooks of Teams respond with `1`, workflows with an empty body. The HTTP status is 2xx for failures too.
  if (/^1?$/.test(text.trim())) return `HTTP ${response.status}`
  // Only the status is kept: the text may repeat the address.
  const [problem, status] = /HTTP error (\d{3})/i.exec(text) ?? ['an unknown error']
  throw refusal(response, Number(status), `HTTP ${response.status} with ${problem} in the body`)
}

/**
 * The headers that let a receiver authenticate a message: a signature of the Standard Webhooks specification 1.0.0,
 * HMAC-SHA256 of `id.timestamp.body`. The time is that of the attempt, which prevents replay of old messages.
 * @param secret `whsec_` and the key in base64
 */
export function signatureHeaders(
  secret: string,
  message: { readonly id: string; readonly body: string },
  now: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key)
    .update(`${message.id}.${timestamp}.${message.body}`)
    .digest('base64')
  return { 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/** Opened when the first message is sent through a proxy. */
let proxies: EnvHttpProxyAgent | undefined

function refusal({ headers }: Response, status: number, problem: string): PostError {
  const waitS = Number(headers.get('retry-after') ?? 0)
  return new PostError(problem, {
    isWorthRetrying: status >= 500,
    waitS: waitS > 0 ? Math.min(waitS, WAIT_MAX_S) : 0,
  })
}

/** Contains only the error code, because network error messages may contain the address. */
function networkProblem(error: unknown): string {
  if (error instanceof UsageError) return error.message
  if (!(error instanceof Error)) return 'no connection'
  if (error.name === 'TimeoutError') return `no response in ${CALL_MS / 1000} s`
  const code = (error.cause as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? `no connection (${code})` : 'no connection'
}

export type Receiver = ReturnType<typeof receiversOf>[number]

/** The receivers of some addresses, without duplicates. */
export function receiversOf(addresses: readonly ReceiverAddress[]) {
  const receivers = addresses.map((address) => ({
    ...address,
    /** Replaces the address in the database and in logs, because the address is a secret. */
    key: keyOf(address),
    /** The types of the messages that it receives. */
    events: address.shape === 'heartbeat' ? ['night.ended'] : (address.events ?? DEFAULT_TYPES),
  }))
  return [...new Map(receivers.map((each) => [each.key, each])).values()]
}

function keyOf({ shape, url, events }: ReceiverAddress): string {
  const text = `${shape} ${url}${events ? `#${events}` : ''}`
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** The receiver of the ping for a night that failed: `/fail` below the path of the heartbeat, as Healthchecks documents. */
export function failing(heartbeat: Receiver): Receiver {
  const url = new URL(heartbeat.url)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/fail`
  return { ...heartbeat, url: url.href }
}
