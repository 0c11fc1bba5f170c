import * as z from 'zod'

/** Parsers of addresses, as those of `parse.ts`. */

/** An address of Redis; kept as written, because its password must stay as it is. */
export const redisAddress = z
  .string()
  .refine(
    (text) => /^rediss?:\/\//i.test(text) && isDecodable(text),
    'must be an address that starts with redis:// or rediss:// (special characters in a password are written as %XX)',
  )

/** The service's base address, without a slash at its end: http(s), with no credentials, query or fragment in it. */
export const serviceAddress = z
  .url({
    protocol: /^(http|https)$/,
    error: 'must be an address that starts with https:// or http://',
    abort: true,
  })
  .refine((text) => !hasCredentials(text), 'must not hold a user name or password')
  .refine((text) => !/[?#]/.test(text), 'must not hold a query or fragment (? or #)')
  .transform((text) => new URL(text).href.replace(/\/+$/, ''))

/** Whether a user name or a password is in an address. @throws TypeError for text that is no address */
export function hasCredentials(text: string): boolean {
  const { username, password } = new URL(text)
  return username + password !== ''
}

function isDecodable(text: string): boolean {
  try {
    const { username, password } = new URL(text)
    decodeURIComponent(username + password)
    return true
  } catch {
    return false
  }
}
