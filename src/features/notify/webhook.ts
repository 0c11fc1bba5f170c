import { createHmac } from 'node:crypto'

/** Signatures of the Standard Webhooks specification 1.0.0: HMAC-SHA256 of `id.timestamp.body`. */

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
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key)
    .update(`${message.id}.${timestamp}.${message.body}`)
    .digest('base64')
  return { 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
