import { createHash, createHmac } from 'node:crypto'
import pRetry from 'p-retry'
import { fetch } from 'undici'
import type { EnvHttpProxyAgent, Response } from 'undici'
import { UsageError } from '../../base/errors.ts'
import { hasProxy, openProxies } from '../../base/proxy.ts'

/** One call may take so long. */
const CALL_MS = 10_000
/** Further tries at once, a second or two apart; a receiver that is away for longer is tried again later. */
const RETRIES = 2
/** A receiver cannot ask for a longer wait. */
const WAIT_MAX_S = 3600
/** Enough of a response body to see whether Teams delivered the message. */
const START_BYTES = 1000

/** Why a message was not taken: a few words, and how long to wait where the receiver said so. */
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

/** What is sent to a receiver. */
export interface Post {
  /** The same in every try, so that the receiver can drop a repeat. */
  readonly id: string
  /** JSON. */
  readonly body: string
}

/**
 * Posts a message, in up to three tries. Redirects are not followed: they would lead a message to where nobody set it to go.
 * @param options.secret `whsec_...`; without one it is not signed
 * @param options.signal ends the waits between tries; a call under way is not cut short, since it may have been taken
 * @throws PostError where the receiver did not take it, or a proxy setting is wrong; it never contains the address
 */
export async function postMessage(
  receiver: Receiver,
  post: Post,
  { secret, signal }: { secret: string | undefined; signal: AbortSignal },
): Promise<void> {
  try {
    await pRetry(() => tryOnce(receiver, post, secret), {
      retries: RETRIES,
      minTimeout: 500,
      randomize: true,
      signal,
      shouldRetry: ({ error }) => error instanceof PostError && error.isWorthRetrying,
    })
  } catch (error) {
    if (error instanceof PostError) throw error
    // Asked to stop between two tries.
    throw new PostError('stopped', { isWorthRetrying: true })
  }
}

async function tryOnce(
  { shape, url }: Receiver,
  post: Post,
  secret: string | undefined,
): Promise<void> {
  let response: Response
  let text = ''
  try {
    response = await fetch(url, {
      ...(hasProxy(url) ? { dispatcher: (proxies ??= openProxies()) } : {}),
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'collab-sync',
        'webhook-id': post.id,
        ...(secret === undefined ? {} : signatureHeaders(secret, post, new Date())),
      },
      body: post.body,
      signal: AbortSignal.timeout(CALL_MS),
    })
    if (shape === 'teams' && response.ok) text = await readStart(response)
  } catch (error) {
    throw new PostError(networkProblem(error), {
      isWorthRetrying: !(error instanceof UsageError),
    })
  }
  await response.body?.cancel()
  if (!response.ok) throw refusal(response, response.status, `HTTP ${response.status}`)
  if (!isTeamsSuccess(text)) throw teamsRefusal(response, text)
}

/**
 * The headers that let a receiver check who sent a message, when, and that it is whole: a signature of the Standard Webhooks
 * specification 1.0.0, HMAC-SHA256 of `id.timestamp.body`. The time is that of the try, so that an old message cannot be
 * played back.
 * @param secret `whsec_` and the key in base64
 */
export function signatureHeaders(secret: string, message: Post, now: Date): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key)
    .update(`${message.id}.${timestamp}.${message.body}`)
    .digest('base64')
  return { 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/** Opened with the first message that goes through a proxy. */
let proxies: EnvHttpProxyAgent | undefined

/** The first bytes of a response body as text. */
async function readStart({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= START_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, START_BYTES).toString()
}

/** Incoming webhooks of Teams answer `1`, workflows nothing. The HTTP status is 2xx for failures too. */
function isTeamsSuccess(text: string): boolean {
  return /^1?$/.test(text.trim())
}

function teamsRefusal(response: Response, text: string): PostError {
  // Only the status is kept: the text may repeat the address.
  const [problem, status] = /HTTP error (\d{3})/i.exec(text) ?? ['an unknown error']
  return refusal(response, Number(status), `HTTP ${response.status} with ${problem} in the body`)
}

function refusal({ headers }: Response, status: number, problem: string): PostError {
  const waitS = Number(headers.get('retry-after') ?? 0)
  return new PostError(problem, {
    isWorthRetrying: status >= 500,
    waitS: waitS > 0 ? Math.min(waitS, WAIT_MAX_S) : 0,
  })
}

/** By its code alone: messages of the network may repeat the address. */
function networkProblem(error: unknown): string {
  if (error instanceof UsageError) return error.message
  if (!(error instanceof Error)) return 'no connection'
  if (error.name === 'TimeoutError') return `no answer in ${CALL_MS / 1000} s`
  const code = (error.cause as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? `no connection (${code})` : 'no connection'
}

/** An address of NOTIFY_URL. */
export interface ReceiverAddress {
  readonly shape: 'json' | 'slack' | 'teams'
  /** A secret: whoever knows it can post there. */
  readonly url: string
}

/** Who is notified. */
export interface Receiver extends ReceiverAddress {
  /** Stands for the address where that must not be seen: in the database, in logs. */
  readonly key: string
}

/** The receivers of some addresses, each once. */
export function receiversOf(addresses: readonly ReceiverAddress[]): Receiver[] {
  const receivers = addresses.map((address) => ({ ...address, key: keyOf(address) }))
  return [...new Map(receivers.map((each) => [each.key, each])).values()]
}

function keyOf({ shape, url }: ReceiverAddress): string {
  return createHash('sha256').update(`${shape} ${url}`).digest('hex').slice(0, 16)
}
