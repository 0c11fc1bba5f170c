import type * as z from 'zod'
import { hasCredentials } from './parse-address.ts'
import { parser } from './parse.ts'

/** Parsers of the settings by which people are notified; see `parse.ts`. */

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** A length of time, such as `26h`, `90m` or `1h30m`; in milliseconds, from a second to a year. */
export const duration: z.ZodType<number, string> = parser(
  'must be a length of time such as 26h, 90m, 1h30m or 2d',
  (text) => {
    if (!/^(\d{1,7}[smhd])+$/.test(text)) return undefined
    const parts = [...text.matchAll(/(\d+)([smhd])/g)]
    const units = parts.map(([, , unit]) => unit)
    if (new Set(units).size < units.length) return undefined
    const ms = parts.reduce((sum, [, n, unit = '']) => sum + Number(n) * (UNITS_MS[unit] ?? 0), 0)
    return ms >= 1000 && ms <= 366 * 86_400_000 ? ms : undefined
  },
)

const RECEIVER = /^(?:(slack|teams)\+)?(https?:\/\/\S+)$/i

/** Addresses with spaces or line breaks between, which no address can hold; each with its shape by prefix. */
export const receivers: z.ZodType<{ shape: 'json' | 'slack' | 'teams'; url: string }[], string> =
  parser(
    'must be addresses with spaces between, each starting with https:// (slack+https://, teams+https:// for these two), without a user name or password',
    (text) => {
      const all = text.split(/\s+/).map((each) => {
        const [, shape = 'json', url = ''] = RECEIVER.exec(each) ?? []
        if (!URL.canParse(url) || hasCredentials(url)) return null
        return { shape: shape.toLowerCase() as 'json' | 'slack' | 'teams', url: new URL(url).href }
      })
      return all.every((each) => each !== null) ? all : undefined
    },
  )

/** A signing secret as the Standard Webhooks specification writes it: `whsec_` and 24 to 64 bytes in base64. */
export const signingSecret: z.ZodType<string, string> = parser(
  'must be whsec_ and 24 to 64 bytes in base64 (make one with: echo whsec_$(openssl rand -base64 32))',
  (text) => {
    const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
    if (base64 === undefined) return undefined
    const { length } = Buffer.from(base64, 'base64')
    return length >= 24 && length <= 64 ? text : undefined
  },
)
