import { createHmac, timingSafeEqual } from 'node:crypto'

/** Signatures of the Standard Webhooks specification 1.0.0: HMAC-SHA256 of `id.timestamp.body`. */

/** A message, older or further ahead than that, may be one that is played back. */
const TOLERANCE_S = 300

const VERSION = 'v1,'

/**
 * The headers that let a receiver check who sent a message, when, and that it is whole. The time is that of the try, so
 * that an old message cannot be played back.
 * @param secret `whsec_` and the key in base64
 */
export function signatureHeaders(
  secret: string,
  message: { id: string; body: string },
  now: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const digest = digestOf(secret, { id: message.id, timestamp }, message.body)
  return {
    'webhook-timestamp': timestamp,
    'webhook-signature': VERSION + digest.toString('base64'),
  }
}

/**
 * What is wrong with a message that is said to be signed, in one sentence; null where nothing is. Signatures are compared in
 * constant time.
 * @param headers those of the request
 * @param body as it came, byte by byte
 */
export function signatureFault(
  secret: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Buffer,
  now: Date,
): string | null {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    return 'A signed request has the headers webhook-id, webhook-timestamp and webhook-signature.'
  const sentAtS = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : NaN
  // NaN is in no range.
  if (!(Math.abs(now.getTime() / 1000 - sentAtS) <= TOLERANCE_S))
    return 'webhook-timestamp must be the seconds since 1970, and no more than five minutes from now.'
  const expected = digestOf(secret, { id, timestamp }, body)
  const isSigned = signatures.split(' ').some((each) => {
    const given = Buffer.from(each.slice(VERSION.length), 'base64')
    const isComparable = each.startsWith(VERSION) && given.length === expected.length
    return isComparable && timingSafeEqual(given, expected)
  })
  return isSigned ? null : 'The signature is not that of the request.'
}

function digestOf(
  secret: string,
  { id, timestamp }: { id: string; timestamp: string },
  body: string | Buffer,
): Buffer {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
}
