import { PLAIN, SOUND, nested } from './generate.ts'
import type { Night, ScopeCase } from './generate.ts'

/** A body above this many bytes, encoded or decoded, is refused: `SYNC_MAX_BODY_BYTES` while the fuzzer runs. */
export const MAX_BODY_BYTES = 20 * 1024 * 1024

/** What an answer at a limit is made of. */
interface ServiceResponse {
  readonly items: readonly string[]
  /** The body is filled up with blanks to so many bytes. */
  readonly bytes?: number
  readonly encoding?: string
}

export type Limit = readonly [name: string, make: () => ServiceResponse]

const comment = (...members: readonly string[]) => `{${['"commentId":10', ...members].join(',')}}`
const record = (...members: readonly string[]) => ({ items: [comment(...members), SOUND_RECORD] })
const SOUND_RECORD = '{"commentId":11,"commentText":"a neighbour","from":{"userId":"u0"}}'
const author = (id: string) => record(`"from":{"userId":"${id}","name":"A"}`)
const time = (token: string) => record(`"lastUpdated":${token}`)
const faults = (count: number) =>
  record(...Array.from({ length: count }, (_, at) => `"m${at}":"\\u0000"`))
const nestedOf = (levels: number) => record(`"deep":${nested(levels, 'mixed')}`)

/** Each limit of docs/FAILURES.md at it and one above it, as far as that takes no time. */
// prettier-ignore
export const SMALL_LIMITS: readonly Limit[] = [
  ['nested 100 levels', () => nestedOf(100)],
  ['nested 101 levels', () => nestedOf(101)],
  ['nested 5,000 levels', () => nestedOf(5000)],
  ['userId of 2,000 bytes', () => author('é'.repeat(1000))],
  ['userId of 2,001 bytes', () => author(`${'é'.repeat(1000)}z`)],
  ['userId of 5,000 bytes', () => author('x'.repeat(5000))],
  ['number of 1,000 digits', () => record(`"n":${'7'.repeat(1000)}`)],
  ['number of 1,001 digits', () => record(`"n":${'7'.repeat(1001)}`)],
  ['number 1e999', () => record('"n":1e999')],
  ['number 1e1000', () => record('"n":1e1000')],
  ['commentId 2^53 - 1', () => ({ items: ['{"commentId":9007199254740991}', SOUND_RECORD] })],
  ['commentId 2^53', () => ({ items: ['{"commentId":9007199254740992}', SOUND_RECORD] })],
  ['the year 1', () => time('"0001-01-01T00:00:00.000Z"')],
  ['before the year 1', () => time('"0000-12-31T23:59:59.999Z"')],
  ['the year 9999', () => time('253402300799999')],
  ['after the year 9999', () => time('253402300800000')],
  ['20 members that cannot be stored', () => faults(20)],
  ['21 members that cannot be stored', () => faults(21)],
]

/** Those that take a second or so. */
// prettier-ignore
export const LARGE_LIMITS: readonly Limit[] = [
  ['nested 100,000 levels', () => nestedOf(100_000)],
  ['a record of 16,000,000 characters', () => longRecord(16_000_000)],
  ['a record of 16,000,001 characters', () => longRecord(16_000_001)],
  ['10,000 rejected records', () => ({ items: [...Array.from({ length: 10_000 }, () => '0'), SOUND_RECORD] })],
  ['10,001 rejected records', () => ({ items: [...Array.from({ length: 10_001 }, () => '0'), SOUND_RECORD] })],
  // All records are rejected; at the limit, that is the reported reason.
  ['1,000,000 records', () => ({ items: Array.from({ length: 1_000_000 }, () => '0') })],
  ['1,000,001 records', () => ({ items: Array.from({ length: 1_000_001 }, () => '0') })],
  ['a body of the most bytes', () => ({ items: [SOUND_RECORD], bytes: MAX_BODY_BYTES })],
  ['a body of one byte more', () => ({ items: [SOUND_RECORD], bytes: MAX_BODY_BYTES + 1 })],
  ['a decoded body of the most bytes', () => ({ items: [SOUND_RECORD], bytes: MAX_BODY_BYTES, encoding: 'gzip' })],
  ['a decoded body of one byte more', () => ({ items: [SOUND_RECORD], bytes: MAX_BODY_BYTES + 1, encoding: 'gzip' })],
  ['1.4 MB of distinct words', () => record(`"commentText":"${distinctWords(1_400_000)}"`)],
]

function longRecord(characters: number): ServiceResponse {
  const text = 'long '.repeat(characters / 5)
  const rest = comment('"commentText":""').length
  return record(`"commentText":"${text.slice(0, characters - rest)}"`)
}

function distinctWords(characters: number): string {
  const words: string[] = []
  for (let at = 0, length = 0; length < characters; at++) {
    const word = `w${at.toString(36)}`
    words.push(word)
    length += word.length + 1
  }
  return words.join(' ')
}

/** The answer in the first night, and its sound record alone in those after it. */
export function limitCase(
  { items, bytes, encoding = '' }: ServiceResponse,
  nights: number,
): ScopeCase {
  const body = PLAIN.before.length + PLAIN.after.length + items.join(',').length + 2
  const blanks = bytes === undefined ? '' : ' '.repeat(bytes - body)
  const night: Night = {
    states: [],
    extras: items,
    order: 0,
    repeats: false,
    envelope: { before: blanks + PLAIN.before, after: PLAIN.after },
    damage: { kind: 'none' },
    transfer: { ...SOUND, encoding: encoding === '' ? null : encoding },
    byId: 'none',
  }
  const after = { ...night, extras: [SOUND_RECORD], envelope: PLAIN, transfer: SOUND }
  return { pool: [], nights: Array.from({ length: nights }, (_, at) => (at === 0 ? night : after)) }
}
