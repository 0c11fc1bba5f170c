import fc from 'fast-check'
import {
  brotliCompressSync,
  constants as zlib,
  deflateRawSync,
  deflateSync,
  gzipSync,
} from 'node:zlib'

/**
 * What a service may answer to one scope over several nights: the documented grammar (docs/SERVICE.md), and what breaks it
 * at values, tokens and bytes. Ids of the scope itself stand in the texts as @ORG@, @DOC@ and @ANN@.
 */
export interface ScopeCase {
  readonly pool: readonly PoolEntry[]
  readonly nights: readonly Night[]
}

interface PoolEntry {
  /** The id as it is written. */
  readonly id: string
  /** How the record may look; an edit takes another of them. */
  readonly variants: readonly string[]
}

export interface Night {
  /** For each entry of the pool: which variant, or that it is gone, or left out of the listing though it is there. */
  readonly states: readonly number[]
  readonly extras: readonly string[]
  readonly order: number
  readonly repeats: boolean
  readonly envelope: Envelope
  readonly damage: Damage
  readonly transfer: Transfer
  readonly byId: ByIdFault
}

export interface Transfer {
  readonly httpStatus: number
  readonly encoding: string | null
  readonly isDamaged: boolean
  readonly isChunked: boolean
  readonly isCut: boolean
}

interface Envelope {
  readonly before: string
  readonly after: string
}

type Damage =
  | { readonly kind: 'none' }
  | { readonly kind: 'bytes'; readonly at: readonly number[]; readonly to: readonly number[] }
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'after'; readonly text: string }
  | { readonly kind: 'bom' }
  | { readonly kind: 'token'; readonly at: number; readonly to: string }
  | { readonly kind: 'swap'; readonly at: number; readonly with: number }

export const BY_ID_FAULTS = [
  'none',
  'all null',
  'one less',
  'one more',
  'reversed',
  'another id',
  'id as text',
  'of another document',
  'one page',
  'unreadable',
  'error body',
  'no data',
] as const
type ByIdFault = (typeof BY_ID_FAULTS)[number]

export const GONE = -2
export const LEFT_OUT = -1

const weighted = <T>(...choices: readonly [number, fc.Arbitrary<T>][]) =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
const one = <T>(...values: readonly T[]) => fc.constantFrom(...values)

/** A string's token, plain or with escapes where none is needed. */
const stringToken = weighted<string>(
  [10, fc.string({ maxLength: 12 }).map((text) => JSON.stringify(text))],
  [4, fc.string({ unit: 'binary', maxLength: 8 }).map((text) => JSON.stringify(text))],
  [2, fc.string({ maxLength: 6 }).map(escaped)],
  // prettier-ignore
  [2, one('"a\\u0000b"', '"\\ud83d"', '"\\ude00x"', '"\\ud83d\\ude00"', '"\\u2028"', '"\\/"', '"\\b\\f"', '""', '"\\u005Fx"', '"😀"', '"ﬀ"')],
)

function escaped(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`
}

// prettier-ignore
const numberToken = weighted<string>(
  [6, fc.integer().map(String)],
  [3, fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value))],
  [4, one('0', '-0', '1e2', '1E+2', '5.0', '1.50', '9007199254740993', '12345678901234567890.5', '-9007199254740992',
    '1e400', '1e-400', '1.00000000000000000001', '0.1000000000000000055', '100000.000000000000001', '1e999', '1e1000',
    '123456789012345e3', '0.30000000000000004')],
  [1, one('1'.repeat(1000), '1'.repeat(1001), '7'.repeat(300))],
)

const DEPTHS = [2, 50, 98, 99, 100, 101, 102, 150] as const

/** A value nested so that its innermost container is at the given level of the record, whose member it is. */
export function nested(level: number, kind: 'array' | 'object' | 'mixed'): string {
  const opens: string[] = []
  const closes: string[] = []
  for (let at = 0; at < level; at++) {
    const isArray = kind === 'array' || (kind === 'mixed' && at % 2 === 0)
    opens.push(isArray ? '[' : '{"n":')
    closes.push(isArray ? ']' : '}')
  }
  return `${opens.join('')}${kind === 'array' ? '' : '1'}${closes.reverse().join('')}`
}

const deep = fc
  .tuple(weighted<number>([20, one(...DEPTHS)], [1, one(5000)]), one('array', 'object', 'mixed'))
  .map(([level, kind]) => nested(level, kind as 'array'))

const NAMES = [
  'a', 'color', 'assigneeEmail', '', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'a.b', 'from', 'name', 'length',
] // prettier-ignore
const nameToken = weighted<string>(
  [8, one(...NAMES).map((name) => JSON.stringify(name))],
  [2, stringToken],
  // prettier-ignore
  [1, one('"commentT\\u0065xt"', '"user\\u0049d"', '"a\\u0000"', '"\\ud800"', '"__proto__"')],
)

const { value: valueToken } = fc.letrec<{ value: string }>((tie) => ({
  value: weighted<string>(
    [6, stringToken],
    [4, numberToken],
    [2, one('true', 'false', 'null', '[]', '{}')],
    [1, deep],
    [2, fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`)],
    [2, fc.array(fc.tuple(nameToken, tie('value')), { maxLength: 3 }).map(objectOf)],
  ),
}))

function objectOf(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([name, value]) => `${name}:${value}`).join(',')}}`
}

// prettier-ignore
const timeToken = weighted<string>(
  [8, fc.integer({ min: 1_600_000_000_000, max: 1_800_000_000_000 }).map((ms) => `"${new Date(ms).toISOString()}"`)],
  [4, one('"0001-01-01T00:00:00.000Z"', '"9999-12-31T23:59:59.999Z"', '"0000-12-31T23:59:59.999Z"', '"10000-01-01T00:00:00.000Z"',
    '1700000000123', '1700000000', '1.7e12', '1700000000123.75', '-62135596800000', '-62135596800001', '253402300799999',
    '253402300800000', '1e300', '"2025-02-30T00:00:00.000Z"', '"2024-02-29T12:00:00.000Z"', '"2023-02-29"', '"2025-10-01"',
    '"2025-10-01T10:00"', '"2025-10-01 10:00:00,5+05:30"', '"2025-10-01T10:00:00.123456Z"', '"2025-10-01T24:00:00Z"',
    '"2025-10-01T23:59:60Z"', '"2025-10-01T10:00:00-0330"', '"2025-10-01T10:00:00+14"', '"1850-06-01T00:00:00+00:00"',
    '"1899-12-31"', '"1700000000000"', '"yesterday"', '""', 'null', 'true', '{"_seconds":1700000000}', '"2025-10-01t10:00:00z"',
    '"0099-01-01T00:00:00+01:00"', '"1969-07-20T20:17:40.000Z"', '"2025-13-01T00:00:00.000Z"', '"2025-10-01T10:00:00\\u0000"')],
)

// prettier-ignore
const userIdToken = weighted<string>(
  [10, fc.integer({ min: 0, max: 7 }).map((n) => `"u${n}"`)],
  [6, fc.integer({ min: 0, max: 30 }).map((n) => `"@ANN@.u${n}"`)],
  [3, one('null', '5', '""', '"a\\u0000"', '"\\ud800"', '["u1"]', '{}', 'true')],
  [2, one(`"${'x'.repeat(2000)}"`, `"${'x'.repeat(2001)}"`, `"${'é'.repeat(1000)}"`, `"${'é'.repeat(1000)}z"`, `"${'x'.repeat(5000)}"`)],
  [1, stringToken],
)

const contradiction = fc.tuple(
  one('"organizationId"', '"documentId"', '"annotationId"'),
  weighted<string>(
    [6, one('"@ORG@"', '"@DOC@"', '"@ANN@"')],
    [3, one('"elsewhere"', 'null', '7', '[]', '""')],
  ),
)
const ownIds = one(
  '"organizationId":"@ORG@"',
  '"documentId":"@DOC@"',
  '"annotationId":"@ANN@"',
).map((member) => member.split(':') as [string, string])

const extraMember: fc.Arbitrary<readonly [string, string]> = weighted<readonly [string, string]>(
  [8, fc.tuple(nameToken, valueToken)],
  [2, ownIds],
)

const userMembers = fc.array(
  weighted<readonly [string, string]>(
    [6, fc.tuple(one('"name"'), weighted<string>([5, stringToken], [1, valueToken]))],
    [6, fc.tuple(one('"email"'), weighted<string>([5, stringToken], [1, valueToken]))],
    [2, extraMember],
  ),
  { maxLength: 4 },
)

const fromToken = weighted<string>(
  [
    8,
    fc.tuple(userIdToken, userMembers).map(([id, rest]) => objectOf([['"userId"', id], ...rest])),
  ],
  [2, userMembers.map(objectOf)],
  [1, valueToken],
)

const commentMembers = fc.array(
  weighted<readonly [string, string]>(
    [6, fc.tuple(one('"commentText"'), weighted<string>([6, stringToken], [1, valueToken]))],
    [3, fc.tuple(one('"commentHtml"'), weighted<string>([6, stringToken], [1, valueToken]))],
    [6, fc.tuple(one('"lastUpdated"'), timeToken)],
    [6, fc.tuple(one('"from"'), fromToken)],
    [
      2,
      fc.tuple(
        one('"status"', '"type"'),
        weighted<string>([5, one('"added"', '"text"', '"resolved"')], [1, valueToken]),
      ),
    ],
    [3, extraMember],
  ),
  { maxLength: 7 },
)

/** Ids of comments in a pool: each is another number. */
const COMMENT_IDS = ['10', '11', '5.0', '-3', '9007199254740991', '-9007199254740991', '0', '1e3']

// prettier-ignore
const brokenCommentId = one('null', '"10"', '1.5', '9007199254740992', '-9007199254740992', '1e400', '{}', '[]', 'true', '"x"', '-0', '11', '10')

const SCALARS = one('null', '"a text"', '5', 'true', 'false', '[]', '[[{"commentId":10}]]', '{}')

const oddComment = weighted<string>(
  [2, SCALARS],
  [3, fc.tuple(brokenCommentId, commentMembers).map(([id, rest]) => objectOf([['"commentId"', id], ...rest]))],
  [1, commentMembers.map(objectOf)],
  [2, fc.tuple(one('10', '11', '99'), contradiction).map(([id, member]) => objectOf([['"commentId"', id], member]))],
  [1, fc.tuple(one('10', '77'), extraMember, numberToken).map(([id, [name, value], number]) =>
      // One name twice beside a number that a double cannot hold.
      objectOf([['"commentId"', id], [name, value], [name, number], ['"long"', '12345678901234567890']]))],
) // prettier-ignore

const oddUser = weighted<string>(
  [2, SCALARS],
  [4, one('""', 'true', '5', '["u1"]', '{}', 'null', '"a\\u0000"').map((id) => `{"userId":${id}}`)],
  [
    4,
    fc.tuple(userIdToken, userMembers).map(([id, rest]) => objectOf([['"userId"', id], ...rest])),
  ],
  [
    1,
    fc
      .tuple(one('"u1"', '"u9"'), contradiction)
      .map(([id, member]) => objectOf([['"userId"', id], member])),
  ],
)

export const PLAIN: Envelope = {
  before: '{"result":{"status":"success","message":"retrieved successfully.","data":',
  after: '}}',
}
const wrap = (before: string, after: string): Envelope => ({ before, after })

// prettier-ignore
const envelope = weighted<Envelope>(
  [150, fc.constant(PLAIN)],
  [3, one(
    wrap('{"result":{"data":', '}}'), wrap(' {\n"res\\u0075lt" :{"data":', '},"error":null}\r\n'),
    wrap('{"result":{"status":"ok","data":', ',"nextPageToken":null,"hasMore":false,"total":0}}'),
    wrap('{"extra":1,"extra":[2],"result":{"message":1,"message":2,"data":', '}}'),
    wrap('{"result":{"status":null,"data":', ',"__proto__":{"hasMore":true}}}'))],
  [2, one(
    wrap('{"result":{"data":', ',"nextPageToken":"abc"}}'), wrap('{"hasMore":true,"result":{"data":', '}}'),
    wrap('{"result":{"data":', ',"page":{"total":99999}}}'), wrap('{"result":{"status":"partial","data":', '}}'))],
  [2, one(
    wrap('{"result":{"data":[]},"result":{"data":', '}}'), wrap('{"result":{"data":', '},"result":{"data":[]}}'),
    wrap('{"result":{"data":[{"commentId":10}],"data":', '}}'), wrap('{"result":{"data":', ',"d\\u0061ta":[]}}'),
    wrap('{"result":{"status":"success","status":"error","data":', '}}'),
    wrap('{"error":null,"error":null,"result":{"data":', '}}'))],
  [2, one(
    wrap('{"result":{"status":"failed","data":', '}}'), wrap('{"result":{"items":', '}}'), wrap('{"result":{"data":{"a":', '}}}'),
    wrap('{"result":[{"data":', '}]}'), wrap('', ''), wrap('{"data":', '}'), wrap('{"result":null,"data":', '}'))],
  [2, one(
    wrap('{"error":{"message":"Error.","status":"INTERNAL"},"result":{"data":', '}}'), wrap('{"error":"no","result":{"data":', '}}'),
    wrap('{"error":{"message":"a\\u0000b\\ud800","status":"OUT_OF\\u0000_CHEESE"},"data":', '}'), wrap('{"error":{},"d":', '}'),
    wrap('{"error":{"status":404},"d":', '}'), wrap(`{"error":{"status":"${'LONG '.repeat(40)}"},"d":`, '}'))],
)

// prettier-ignore
const damage = weighted<Damage>(
  [150, fc.constant({ kind: 'none' })],
  [2, fc.record({ kind: fc.constant('bytes' as const), at: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), to: fc.array(fc.nat(255), { minLength: 3, maxLength: 3 }) })],
  [1, fc.record({ kind: fc.constant('cut' as const), at: fc.oneof(fc.nat(), fc.constant(0)) })],
  [1, fc.record({ kind: fc.constant('after' as const), text: one('x', '{}', ',', '\n{"result":{"data":[]}}', '\0', '}', ' \t\r\n') })],
  [1, fc.constant({ kind: 'bom' })],
  [3, fc.record({ kind: fc.constant('token' as const), at: fc.nat(), to: valueToken })],
  [1, fc.record({ kind: fc.constant('swap' as const), at: fc.nat(), with: fc.nat() })],
)

export const SOUND = {
  httpStatus: 200,
  encoding: null,
  isDamaged: false,
  isChunked: false,
  isCut: false,
}
const ENCODINGS = ['gzip', 'x-gzip', 'deflate', 'br', 'identity', 'GZIP']
const UNREADABLE = ['zstd', 'compress', 'raw deflate', 'gzip, br', 'deflate, gzip']
// prettier-ignore
const transfer = weighted<Transfer>(
  [110, fc.constant(SOUND)],
  [6, fc.record({ ...constants(SOUND), encoding: one(...ENCODINGS), isChunked: fc.boolean() })],
  [1, fc.record({ ...constants(SOUND), encoding: one(...UNREADABLE) })],
  [1, fc.record({ ...constants(SOUND), encoding: one('gzip', 'br', 'deflate'), isDamaged: fc.constant(true) })],
  [1, fc.record({ ...constants(SOUND), httpStatus: one(201, 206, 302, 404, 400, 418, 500, 403) })],
  [1, fc.constant({ ...SOUND, isCut: true })],
)

function constants<T extends object>(values: T): { [Name in keyof T]: fc.Arbitrary<T[Name]> } {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, fc.constant(value)]),
  ) as { [Name in keyof T]: fc.Arbitrary<T[Name]> }
}

const MOST = 6

function night(odd: fc.Arbitrary<string>): fc.Arbitrary<Night> {
  return fc.record({
    // An edit, a deletion, or left out of the listing though it is there.
    states: fc.array(weighted<number>([6, fc.nat(2)], [1, one(GONE)], [1, one(LEFT_OUT)]), {
      minLength: MOST,
      maxLength: MOST,
    }),
    extras: weighted<string[]>([3, fc.constant([])], [1, fc.array(odd, { maxLength: 3 })]),
    order: fc.nat(),
    repeats: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
    envelope,
    damage,
    transfer,
    byId: weighted<ByIdFault>([6, fc.constant('none')], [4, one(...BY_ID_FAULTS)]),
  })
}

function poolOf(
  ids: readonly string[],
  name: string,
  members: fc.Arbitrary<(readonly [string, string])[]>,
) {
  return fc
    .array(fc.array(members, { minLength: 1, maxLength: 3 }), { maxLength: ids.length })
    .map((entries) =>
      entries.map((variants, at) => ({
        id: ids[at] as string,
        variants: variants.map((rest) => objectOf([[name, ids[at] as string], ...rest])),
      })),
    )
}

const nightsOf = (odd: fc.Arbitrary<string>, nights: number) =>
  fc.array(night(odd), { minLength: nights, maxLength: nights })

/** What an annotation answers in so many nights. */
export function annotationCase(nights: number): fc.Arbitrary<ScopeCase> {
  return fc.record({
    pool: poolOf(COMMENT_IDS.slice(0, MOST), '"commentId"', commentMembers),
    nights: nightsOf(oddComment, nights),
  })
}

const USER_IDS = ['"u0"', '"u1"', '"u2"', '"@ANN@.a"', '"@ANN@.b"', '"@ANN@.c"']

/** What a listing of users answers in so many nights. */
export function listingCase(nights: number): fc.Arbitrary<ScopeCase> {
  return fc.record({
    pool: poolOf(USER_IDS, '"userId"', userMembers),
    nights: nightsOf(oddUser, nights),
  })
}

/** The ids of the scope that a case is served for. */
export interface Place {
  readonly organizationId: string
  readonly documentId: string
  readonly annotationId: string
}

/** A body without its transfer encoding. */
export function renderListing({ pool }: ScopeCase, night: Night, place: Place): Buffer {
  const items = pool.flatMap(({ variants }, index) => {
    const state = night.states[index] as number
    return state < 0 ? [] : [variants[state % variants.length] as string]
  })
  const all = shuffled([...items, ...night.extras], night.order)
  const text = `${night.envelope.before}[${all.join(',')}]${night.envelope.after}`
  return damaged(at(text, place), night.damage)
}

function at(text: string, { organizationId, documentId, annotationId }: Place): string {
  return text
    .replaceAll('@ORG@', organizationId)
    .replaceAll('@DOC@', documentId)
    .replaceAll('@ANN@', annotationId)
}

/** An answer to a question by ids. */
export function renderById(
  { pool }: ScopeCase,
  night: Night,
  place: Place,
  ids: readonly number[],
): Buffer {
  const found = new Map(
    pool.flatMap(({ id, variants }, index) => {
      const state = night.states[index] as number
      const variant = variants[(state < 0 ? 0 : state) % variants.length] as string
      return state === GONE ? [] : [[Number(id), variant]]
    }),
  )
  const items = ids.map((id) => found.get(id) ?? 'null')
  return Buffer.from(at(byIdBody(items, ids, night.byId), place))
}

function byIdBody(items: string[], ids: readonly number[], fault: ByIdFault): string {
  const body = (data: readonly string[]) => `${PLAIN.before}[${data.join(',')}]${PLAIN.after}`
  switch (fault) {
    case 'none':
      return body(items)
    case 'all null':
      return body(items.map(() => 'null'))
    case 'one less':
      return body(items.slice(1))
    case 'one more':
      return body([...items, 'null'])
    case 'reversed':
      return body(items.reverse())
    case 'another id':
      return body(items.map(() => '{"commentId":424242}'))
    case 'id as text':
      return body(ids.map((id) => `{"commentId":"${id}"}`))
    case 'of another document':
      return body(ids.map((id) => `{"commentId":${id},"documentId":"elsewhere"}`))
    case 'one page':
      return `{"result":{"nextPageToken":"x","data":[${items.join(',')}]}}`
    case 'unreadable':
      return body(items).slice(0, -1)
    case 'error body':
      return '{"error":{"status":"NOT_FOUND"}}'
    case 'no data':
      return '{"result":{}}'
  }
}

const TOKEN = /"(?:\\.|[^"\\])*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g

function damaged(text: string, damage: Damage): Buffer {
  const bytes = () => Buffer.from(text)
  switch (damage.kind) {
    case 'none':
      return bytes()
    case 'bytes': {
      const changed = bytes()
      damage.at.forEach((at, n) => {
        changed[at % changed.length] = damage.to[n] as number
      })
      return changed
    }
    case 'cut':
      return bytes().subarray(0, damage.at % text.length)
    case 'after':
      return Buffer.from(text + damage.text)
    case 'bom':
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes()])
    case 'token':
    case 'swap': {
      const tokens = [...text.matchAll(TOKEN)].map((match) => ({ at: match.index, text: match[0] }))
      const first = tokens[damage.at % tokens.length]
      if (first === undefined) return bytes()
      if (damage.kind === 'token') return Buffer.from(replaced(text, first, damage.to))
      const second = tokens[damage.with % tokens.length] as typeof first
      const [early, late] = first.at < second.at ? [first, second] : [second, first]
      return Buffer.from(replaced(replaced(text, late, early.text), early, late.text))
    }
  }
}

function replaced(text: string, token: { at: number; text: string }, by: string): string {
  return text.slice(0, token.at) + by + text.slice(token.at + token.text.length)
}

function shuffled(items: string[], seed: number): string[] {
  let state = seed
  for (let at = items.length - 1; at > 0; at--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const other = state % (at + 1)
    ;[items[at], items[other]] = [items[other] as string, items[at] as string]
  }
  return items
}

/** A body as it goes over the wire, and the name of its encoding. */
export function encoded(
  body: Buffer,
  { encoding, isDamaged }: Transfer,
): { bytes: Buffer; encoding: string | null } {
  if (encoding === null) return { bytes: body, encoding: null }
  if (encoding === 'raw deflate') return { bytes: deflateRawSync(body), encoding: 'deflate' }
  let bytes = body
  for (const name of encoding.toLowerCase().split(', ')) bytes = ENCODE[name]?.(bytes) ?? bytes
  if (isDamaged) bytes = bytes.subarray(0, Math.max(1, bytes.length >> 1))
  return { bytes, encoding }
}

const ENCODE: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gzipSync(bytes, { level: 1 }),
  'x-gzip': (bytes) => gzipSync(bytes, { level: 1 }),
  deflate: (bytes) => deflateSync(bytes, { level: 1 }),
  br: (bytes) => brotliCompressSync(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: 1 } }),
}
