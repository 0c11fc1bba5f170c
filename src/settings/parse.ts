import { isIP } from 'node:net'
import * as z from 'zod'
import { OPERATIONS, OperationSchema } from '../documents/scope.ts'
import type { Operation } from '../base/errors.ts'

/**
 * Parsers of one setting's text, as zod types. Every complaint is a clause that follows the setting's
 * name ("must be ..."); none repeats the value, which may be a secret.
 */

/** A whole number within bounds; digits only, so that `1e3`, `0x10` and ` 5` are not guessed at. */
export function wholeNumber(min: number, max: number): z.ZodType<number, string> {
  return parser(`must be a whole number from ${min} to ${max}`, (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
    return value >= min && value <= max ? value : undefined
  })
}

/** A whole number within bounds, or `never`. */
export function wholeNumberOrNever(min: number, max: number): z.ZodType<number | null, string> {
  const number = wholeNumber(min, max)
  return parser(`must be a whole number from ${min} to ${max}, or never`, (text) =>
    text === 'never' ? null : number.safeParse(text).data,
  )
}

/** A number within bounds, with or without a decimal point. */
export function decimalNumber(min: number, max: number): z.ZodType<number, string> {
  return parser(`must be a number from ${min} to ${max}`, (text) => {
    const value = /^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : NaN
    return value >= min && value <= max ? value : undefined
  })
}

const DAY_S = 86_400

/** A rate in calls a second: written so (`40`, `0.5`) or by the day (`2500000/d`). */
export const callRate: z.ZodType<number, string> = parser(
  'must be a number of calls a second, from 0.001 to 100000, or a day, such as 2500000/d',
  (text) => {
    const [, digits, daily] = /^(\d{1,15}(?:\.\d{1,15})?)(\/d)?$/.exec(text) ?? []
    const rate = Number(digits) / (daily === undefined ? 1 : DAY_S)
    return rate >= 0.001 && rate <= 100_000 ? rate : undefined
  },
)

/**
 * A share from 0 to 1, written `50%`, `0.5` or `50`. A bare number up to 1 is a fraction, above 1 it is
 * a percentage: so `1` is all, and one percent is written `1%`.
 */
export const share: z.ZodType<number, string> = parser(
  'must be a share from 0% to 100%, such as 50%, 0.5 or 50',
  (text) => {
    const [, digits, percent] = /^(\d{1,3}(?:\.\d{1,15})?)(%?)$/.exec(text) ?? []
    if (digits === undefined) return undefined
    const number = Number(digits)
    const value = percent !== '' || number > 1 ? number / 100 : number
    return value <= 1 ? value : undefined
  },
)

/** A switch: `1` or `0`, also `true` or `false`. */
export const flag: z.ZodType<boolean, string> = parser('must be 1 or 0', (text) =>
  ['1', 'true'].includes(text) ? true : ['0', 'false'].includes(text) ? false : undefined,
)

/** One of a few words. */
export function oneOf<W extends string>(...words: W[]) {
  return z.enum(words, `must be one of ${words.join(', ')}`)
}

/** `users,comments` in any order, or one of them; the answer is in the order of {@link OPERATIONS}. */
export const operations: z.ZodType<Operation[], string> = parser(
  'must be users, comments, or both with a comma between',
  (text) => {
    const words = text.split(',').map((word) => word.trim())
    const { data } = z.array(OperationSchema).safeParse(words)
    return data && OPERATIONS.filter((operation) => data.includes(operation))
  },
)

/** The name of an HTTP header that the worker does not set itself (RFC 9110, 5.6.2). */
export const headerName = z
  .string()
  .refine(
    (text) => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text) && !OWN_HEADERS.has(text.toLowerCase()),
    'must be the name of an HTTP header, and none that every request has anyway',
  )

const OWN_HEADERS = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** A value that can stand in an HTTP header: printable ASCII. */
export const headerValue = z
  .string()
  .regex(
    /^[\x20-\x7e]+$/,
    'must be printable ASCII on one line, because it is sent as an HTTP header',
  )

/** A token that people and programs show to us: long enough that nobody guesses it, and without spaces. */
export const accessToken = z
  .string()
  .regex(/^[\x21-\x7e]{16,}$/, 'must be at least 16 characters of printable ASCII without spaces')

/** Addresses and ranges of addresses (CIDR) with spaces or commas between; none that means everybody. */
export const addressRanges: z.ZodType<string[], string> = parser(
  'must be IP addresses or ranges such as 10.0.0.0/8, with spaces between',
  (text) => {
    const ranges = text.split(/[\s,]+/)
    const isRange = (each: string) => {
      const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(each) ?? []
      const bitsMax = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0
      return bitsMax > 0 && (bits === undefined || (Number(bits) >= 1 && Number(bits) <= bitsMax))
    }
    return ranges.every(isRange) ? ranges : undefined
  },
)

/** A name or address of a network interface of this machine. */
export const hostName = z
  .string()
  .refine(
    (text) =>
      isIP(text) > 0 || /^(?![\d.]+$)[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text),
    'must be a host name or an IP address, without a port',
  )

/** A path under which a proxy puts the HTTP side: it can stand in front of any path of ours. */
export const basePath = z
  .string()
  .regex(
    /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/,
    'must be a path such as /collab-sync: / and letters, digits or . _ ~ -, without / at the end',
  )

/** Any text without a NUL, such as a path or a statement. */
export const text = z.string().regex(/^[^\0]*$/, 'must not hold a NUL character')

/** A member of a comment, by the names that lead to it; none of those that say something else. */
export const memberPath = z
  .string()
  .refine(
    (value) =>
      /^(?!.{201})[^\s.\d-][^\s.]*(?:\.[^\s.\d-][^\s.]*)*$/.test(value) &&
      !/^(commentId|commentText|commentHtml|lastUpdated|status|type)(\.|$)/.test(value),
    'must be names of members with dots between, such as createdAt or meta.createdAt, and none that says something else (lastUpdated)',
  )

/** The start of every key in Redis: BullMQ puts a colon behind it. */
export const keyPrefix = z
  .string()
  .regex(/^[^\s\0]{1,100}$/, 'must be at most 100 characters without spaces')

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

/** A parser of a setting; `read` gives undefined for what it cannot mean. */
export function parser<T>(
  complaint: string,
  read: (text: string) => T | undefined,
): z.ZodType<T, string> {
  return z.string().transform((text, context) => {
    const value = read(text)
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message: complaint })
    return z.NEVER
  })
}
