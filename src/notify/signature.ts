import { createHmac } from 'node:crypto'

/**
 * The headers that let a receiver check who sent a message, when, and that it is whole, as the Standard Webhooks
 * specification 1.0.0 says: HMAC-SHA256 of `id.timestamp.body`. The time is that of the try, so that an old message
 * cannot be played back.
 * @param secret `whsec_` and the key in base64
 */
export function signatureHeaders(
  secret: string,
  message: { id: string; body: string },
  now: Date,
): Record<string, string> {
  const timestamp = Math.floor(now.getTime() / 1000)
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const digest = createHmac('sha256', key)
    .update(`${message.id}.${timestamp}.${message.body}`)
    .digest('base64')
  return { 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${digest}` }
}
