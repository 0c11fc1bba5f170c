import { isIP } from 'node:net'
import * as z from 'zod'
import { OperationSchema } from '../schemas/scope.ts'
import { OPERATION_NAMES } from '../base/operations.ts'
import type { Operation } from '../base/operations.ts'
import { isDocumented, readMemberPath, splitPaths } from '../base/member-path.ts'
import { isHeaderValue } from '../base/secret-file.ts'
import { isThisMachine } from '../base/this-machine.ts'
import { readAge } from '../base/timestamp.ts'
import { TYPES } from '../schemas/notification-type.ts'
import type { ReceiverAddress } from '../schemas/notification-type.ts'

/**
 * Parsers of the text of a setting, as zod types. Every message follows the setting's name
 * ("must be ...") and does not repeat the value, which may be a secret.
 */

/** A whole number within bounds, of digits only: not `1e3`, `0x10` or ` 5`. */
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

/** `1` or `0`, also `true` or `false`. */
export const flag = z.stringbool({
  truthy: ['1', 'true'],
  falsy: ['0', 'false'],
  case: 'sensitive',
  error: 'must be 1 or 0',
})

/** One of a few words. */
export function oneOf<W extends string>(...words: W[]) {
  return z.enum(words, `must be one of ${words.join(', ')}`)
}

/** Operations in any order; returned in that of {@link OPERATION_NAMES}. */
export const operations: z.ZodType<Operation[], string> = parser(
  `must be one or more of ${OPERATION_NAMES.join(', ')}, with commas between`,
  (text) => {
    const words = text.split(',').map((word) => word.trim())
    const { data } = z.array(OperationSchema).safeParse(words)
    return data && OPERATION_NAMES.filter((operation) => data.includes(operation))
  },
)

/** Headers that every request has, or that Node sets. */
const OWN_HEADERS =
  /^(accept-encoding|connection|content-(length|type)|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i

/** The name of an HTTP header that the worker does not set itself (RFC 9110, 5.6.2). */
export const headerName = z
  .string()
  .refine(
    (text) => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text) && !OWN_HEADERS.test(text),
    'must be the name of an HTTP header that collab-sync does not send already, so not Host or Content-Type',
  )

/** The value of an HTTP header: printable ASCII. */
export const headerValue = z
  .string()
  .refine(
    isHeaderValue,
    'must be printable ASCII on one line, because it is sent as an HTTP header',
  )

/** A token of users and programs, which cannot be guessed. */
export const accessToken = z
  .string()
  .regex(/^[\x21-\x7e]{16,}$/, 'must be at least 16 characters of printable ASCII without spaces')
  .refine(
    (text) => !isGuessable(text),
    'is easy to guess, because it has too few different characters, repeats a pattern or is a sequence',
  )

/** A repeated pattern counts once, and a sequence may break twice: in `1234567890abcdef`, 0 follows 9. */
function isGuessable(text: string): boolean {
  const codes = Buffer.from(text)
  const half = codes.subarray(0, codes.length / 2)
  const period = half.findIndex((_, index) => text.startsWith(text.slice(index + 1))) + 1
  const pattern = codes.subarray(0, period || codes.length)
  if (pattern.length * Math.log2(new Set(pattern).size) < 48) return true
  const steps = [...codes.subarray(1)].map((code, index) => Math.sign(code - (codes[index] ?? 0)))
  return [1, -1].some((way) => steps.filter((step) => step === way).length <= 2)
}

const AddressRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])

/** Addresses and ranges of addresses (CIDR), separated by spaces or commas. A range of all addresses is refused. */
export const addressRanges: z.ZodType<string[], string> = parser(
  'must be IP addresses or ranges such as 10.0.0.0/8, with spaces between',
  (text) => {
    const ranges = text.split(/[\s,]+/)
    const isRange = (each: string) => AddressRange.safeParse(each).success && !/\/0+$/.test(each)
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

/** A path under which a proxy serves the HTTP side. */
export const basePath = z
  .string()
  .regex(
    /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/,
    'must be a path such as /collab-sync: / and letters, digits or . _ ~ -, without / at the end',
  )

/** Any text without a NUL, such as a path or a statement. */
export const text = z.string().regex(/^[^\0]*$/, 'must not hold a NUL character')

/** The path of a field of a comment, which is none of those with a column of their own. */
export const memberPath = z
  .string()
  .refine(
    (value) =>
      /^(?!.{201})[^\s.\d-][^\s.]*(?:\.[^\s.\d-][^\s.]*)*$/.test(value) &&
      !isDocumented({ object: 'comment', path: value.split('.') }),
    'must be the path of a field, such as createdAt or meta.createdAt, but not of a field that has a column, such as lastUpdated',
  )

/** Paths of fields that are not stored, in one order. */
export const memberPaths: z.ZodType<string, string> = z.string().transform((text, context) => {
  const paths = splitPaths(text)
  for (const path of paths) {
    const read = readMemberPath(path)
    if (read !== null && !isDocumented(read)) continue
    const message =
      read === null
        ? 'must be paths such as comment.from.photoUrl or user.photoUrl, with spaces between'
        : `must not contain ${path}, because it is, contains or is in a field that the service documents`
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  }
  return [...new Set(paths)].sort().join(' ')
})

/** The start of every key in Redis, before a colon. */
export const keyPrefix = z
  .string()
  .regex(/^[^\s\0]{1,100}$/, 'must be at most 100 characters without spaces')

/** An address of Redis, kept as written because its password must not change. */
export const redisAddress = z
  .string()
  .refine(
    (text) => /^rediss?:\/\/(?!.*%(?![\da-f]{2}))/i.test(text) && URL.canParse(text),
    'must be an address that starts with redis:// or rediss:// (special characters in a password are written as %XX)',
  )

/** A base address; slashes at its end are removed. */
export const baseAddress = z
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

/** A length of time, such as `26h`, `90m` or `1h30m`; in milliseconds, from a second to a year. */
export const duration: z.ZodType<number, string> = parser(
  'must be a length of time such as 26h, 90m, 1h30m or 2d',
  (text) => {
    const parts = /^(?:(\d{1,7})d)?(?:(\d{1,7})h)?(?:(\d{1,7})m)?(?:(\d{1,7})s)?$/.exec(text) ?? []
    const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts
      .slice(1)
      .map((n) => Number(n ?? 0))
    const ms = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
    return ms >= 1000 && ms <= 366 * DAY_S * 1000 ? ms : undefined
  },
)

/** An age of 30 days or more, such as `400d` or `60w`, in milliseconds: the pages show 30 nights. */
export const retention: z.ZodType<number, string> = parser(
  'must be a number of days or weeks such as 400d or 60w, and at least 30d',
  (text) => {
    const ms = readAge(text)
    return ms !== undefined && ms >= 30 * DAY_S * 1000 ? ms : undefined
  },
)

const RECEIVER = /^(?:(slack|teams|heartbeat)\+)?(https?:\/\/[^\s#]+)(?:#events=([^\s#]*))?$/i

/**
 * Addresses separated by spaces or line breaks. The prefix of each selects the format of its messages, and `#events=` their
 * types.
 */
export const receivers: z.ZodType<ReceiverAddress[], string> = z
  .string()
  .transform((text, context) =>
    text.split(/\s+/).map((each) => {
      const read = readReceiver(each)
      if (typeof read !== 'string') return read
      context.addIssue({ code: 'custom', message: read })
      return z.NEVER
    }),
  )

/** @returns what is wrong, for a text that is no receiver */
function readReceiver(text: string): ReceiverAddress | string {
  const [, prefix = 'json', url = '', listed] = RECEIVER.exec(text) ?? []
  if (!URL.canParse(url) || hasCredentials(url))
    return 'must be addresses with spaces between, each starting with https:// or http:// (after slack+, teams+ or heartbeat+ for these), without a user name or password, and without a fragment other than #events='
  const { href, protocol, hostname } = new URL(url)
  const shape = prefix.toLowerCase() as ReceiverAddress['shape']
  if (shape === 'heartbeat') {
    if (protocol === 'http:' && !isThisMachine(hostname))
      return 'must have heartbeat+https:// for a heartbeat that is not on this machine'
    if (listed !== undefined) return 'must have no #events= behind the address of a heartbeat'
  }
  if (listed === undefined) return { shape, url: href }
  const events = [...new Set(listed.split(','))].sort()
  if (!events.every((event) => TYPES.includes(event)))
    return 'must name types of messages after #events=, with commas between, such as run.finished,run.failed (docs/OPERATING.md lists them)'
  return { shape, url: href, events }
}

/** A signing secret as the Standard Webhooks specification writes it: `whsec_` and 24 to 64 bytes in base64. */
export const signingSecret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/, 'must be whsec_ and 24 to 64 bytes in base64')

/** A parser of a setting; `read` returns undefined for a text that is not valid. */
function parser<T>(complaint: string, read: (text: string) => T | undefined): z.ZodType<T, string> {
  return z.string().transform((text, context) => {
    const value = read(text)
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message: complaint })
    return z.NEVER
  })
}
