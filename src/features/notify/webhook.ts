import { createHmac } from 'node:crypto'

/** Signatures of the Standard Webhooks specification 1.0.0: HMAC-SHA256 of `id.timestamp.body`. */

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

function digestOf(
  secret: string,
  { id, timestamp }: { id: string; timestamp: string },
  body: string | Buffer,
): Buffer {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
}
