import * as z from 'zod'
import { parser } from './parse.ts'

/** Parsers of addresses, as those of `parse.ts`. */

/** An address with one of the given schemes; kept as written, because its password must stay as it is. */
export function address(...schemes: string[]): z.ZodType<string, string> {
  const starts = schemes.map((scheme) => `${scheme}://`).join(' or ')
  return parser(
    `must be an address that starts with ${starts} (special characters in a password are written as %XX)`,
    (text) => {
      const url = parseUrl(text)
      const known = schemes.some((scheme) => text.toLowerCase().startsWith(`${scheme}://`))
      return url !== null && known && isDecodable(url.username + url.password) ? text : undefined
    },
  )
}

/** The service's base address, without a slash at its end: http(s), with no credentials, query or fragment in it. */
export const serviceAddress: z.ZodType<string, string> = z.string().transform((text, context) => {
  const url = parseUrl(text)
  const fault =
    url === null || !['http:', 'https:'].includes(url.protocol)
      ? 'must be an address that starts with https:// or http://'
      : url.username !== '' || url.password !== ''
        ? 'must not hold a user name or password'
        : /[?#]/.test(text)
          ? 'must not hold a query or fragment (? or #)'
          : null
  if (fault !== null || url === null) {
    context.addIssue({ code: 'custom', message: fault ?? '' })
    return z.NEVER
  }
  return url.href.replace(/\/+$/, '')
})

function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
