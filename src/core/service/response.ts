import { isAscii, isUtf8, transcode } from 'node:buffer'
import { hash } from 'node:crypto'
import { isObject } from '../../base/json.ts'
import type { Json } from '../../base/json.ts'
import { AmbiguousBodyError, digestInAnyOrder, readBody } from './body.ts'
import type { Body } from './body.ts'
import { callFailure, withoutSecrets } from './errors.ts'
import type { CallTarget, Shape } from './errors.ts'
import type { Reply } from './request.ts'

/** A successful response (docs/SERVICE.md, Requests). */
export type ServiceResponse =
  | {
      /** The body of an earlier success, whatever the order of its records. */
      readonly status: 'unchanged'
      readonly digest: Buffer
    }
  | {
      readonly status: 'data'
      /** 16 bytes of a SHA-256: of the body in any order of its records where it can be cut into them, else of its bytes. */
      readonly digest: Buffer
      /** `result.data` as `JSON.parse` reads it: integers beyond 2^53 - 1 are rounded, see `dataText`. */
      readonly data: unknown[]
      /** The text of `result.data` as it came. */
      readonly dataText: string
      /** True where a member about paging is beside the data, or the data is null: more records may exist. It decides nothing else. */
      readonly paged: boolean
    }

/**
 * Reads a reply.
 * @param knownDigest the digest of a body that this function once took as a success of the same call
 * @throws CallError when it is not a success: an HTTP failure, an `error` body under any HTTP status,
 *   an unreadable body, no `result.data` array
 */
export function readResponse(
  reply: Reply,
  target: CallTarget,
  knownDigest?: Buffer,
): ServiceResponse {
  const { httpStatus } = reply
  if (httpStatus >= 300 && httpStatus < 400)
    throw unusable(reply, target, 'redirect', 'a redirect, which is never followed')
  if (!isSuccessStatus(httpStatus)) throw errorBody(reply, target, errorOf(reply.body), null)
  if (reply.body.length === 0) throw unusable(reply, target, 'body_empty', 'the body is empty')
  const inAnyOrder = digestInAnyOrder(reply.body)
  let digest = shortDigest(inAnyOrder ?? hash('sha256', reply.body, 'binary'))
  if (knownDigest?.equals(digest)) return { status: 'unchanged', digest }
  const { text, body, data, dataText, isCutWell } = parse(reply, target)
  if (inAnyOrder !== null && !isCutWell) {
    // Cut elsewhere than between records, it has to be in the same order. Its bytes may be free by now.
    digest = shortDigest(hash('sha256', text, 'binary'))
    if (knownDigest?.equals(digest)) return { status: 'unchanged', digest }
  }
  if (isFailure(body['error'])) throw errorBody(reply, target, body['error'], 'error_without_code')
  const result = body['result']
  if (!isObject(result) || (data === null && result['data'] !== null))
    throw unusable(reply, target, 'no_data', 'no result.data array in the body')
  const { status } = result
  if (typeof status === 'string' && FAILED_STATUS.test(status))
    throw unusable(reply, target, 'failed_status', `result.status is ${JSON.stringify(status)}`)
  // For example null where nothing was ever stored: a response without records, which does not confirm that there are none.
  if (data === null) return { status: 'data', digest, data: [], dataText: '[]', paged: true }
  if (data.length > RECORDS_MAX)
    throw unusable(reply, target, 'too_many_records', `${data.length} records in one body`)
  return { status: 'data', digest, data, dataText, paged: isOnePageOfSeveral(body, data.length) }
}

/** About a millisecond of work. */
const BYTES_A_TICK = 32_000

let tick: Promise<void> = Promise.resolve()
let bytesLeft = 0

/**
 * Waits until a body of so many bytes may be read. Reading blocks the event loop: of bodies that arrive together, about 32 kB
 * are read in one of its ticks, so that sockets are served in between and new calls start
 * (docs/decisions/2026-11-29-cpu-of-a-call.md).
 */
export function readingTick(bytes: number): Promise<void> {
  if (bytesLeft <= 0) {
    bytesLeft = BYTES_A_TICK
    const next = tick.then(() => new Promise<void>((resolve) => setImmediate(resolve)))
    tick = next
    void next.then(() => {
      // A body that arrives now waits for a tick of its own.
      if (tick === next) bytesLeft = 0
    })
  }
  bytesLeft -= bytes
  return tick
}

/** Records in one body: far more than a listing has, and few enough that each may end as a rejected record. */
const RECORDS_MAX = 1_000_000

// Bytes that are not UTF-8 are damage on the way; decoding them loosely would store it. It skips a BOM.
const utf8 = new TextDecoder('utf-8', { fatal: true })
const BYTE_ORDER_MARK_START = 0xef

/**
 * `result.status` is seen as `success`; its other values are not known. One that speaks of a failure is
 * not taken for data; any other word, and none, is, since `data` is there.
 */
const FAILED_STATUS = /error|fail|denied|invalid|refused|unauth|forbidden|timeout|abort/i

/**
 * A failure is an object with members (docs/SERVICE.md, Errors), or a text. `false`, `null`, `{}`, `[]` and the like mean that
 * there is none.
 */
function isFailure(error: unknown): boolean {
  return typeof error === 'object' ? Object.keys(error ?? {}).length > 0 : Boolean(error)
}

/** Which HTTP status a success has is not known: any 2xx, but 206, which is a part. */
function isSuccessStatus(httpStatus: number): boolean {
  return httpStatus >= 200 && httpStatus < 300 && httpStatus !== 206
}

function parse(reply: Reply, target: CallTarget): Body & { readonly text: string } {
  const { length } = reply.body
  const fail = (shape: Shape, what: string) =>
    unusable(reply, target, shape, `the body ${what} (${length} bytes)`)
  let text: string
  try {
    const secrets = target.secrets.filter((secret) => secret.length >= MASKED_SECRET_CHARS_MIN)
    text = withoutSecrets(decode(reply.body), secrets)
  } catch {
    if (reply.body.subarray(0, 2).equals(GZIP_START))
      throw fail('body_unreadable', 'is compressed, and content-encoding does not say so')
    const charset = /charset\s*=\s*"?([\w.:+-]{1,40})/i.exec(reply.contentType ?? '')?.[1]
    throw fail('body_not_utf8', `is not UTF-8${charset ? `: its charset is ${charset}` : ''}`)
  }
  reply.release?.()
  try {
    return { text, ...readBody(text) }
  } catch (error) {
    if (error instanceof AmbiguousBodyError) throw fail('body_ambiguous', error.message)
    if (/^\s*<(!doctype|html|head|body|\?xml)/i.test(text)) throw fail('web_page', 'is a web page')
    // The parser's own message quotes the body, which may be anybody's words.
    if (/^.?\0/.test(text)) throw fail('body_not_utf8', 'is not UTF-8 but seems to be UTF-16')
    const prefix = SCRIPT_GUARDS.find((each) => text.startsWith(each))
    throw fail(
      'body_unreadable',
      prefix ? `begins with ${prefix}, so it is not JSON` : 'is not JSON',
    )
  }
}

/** A shorter key or token is not masked in records: it may be an ordinary word of theirs. */
export const MASKED_SECRET_CHARS_MIN = 12

const GZIP_START = Buffer.from([0x1f, 0x8b])
/** What some servers write before JSON, so that no page can load it as a script. */
const SCRIPT_GUARDS = [")]}'", 'while(1);', 'for(;;);']

/** A larger response is not copied in memory for speed. */
const TRANSCODE_MAX_BYTES = 1024 * 1024

/**
 * The text of a body, in the cheapest way (docs/decisions/2026-11-29-cpu-of-a-call.md): ASCII as Latin-1, which is the same
 * text, other UTF-8 by transcoding to UTF-16.
 * @throws where it is not UTF-8
 */
function decode(body: Buffer): string {
  if (isAscii(body)) return body.toString('latin1')
  const isSmall = body.length <= TRANSCODE_MAX_BYTES
  if (!isSmall || body[0] === BYTE_ORDER_MARK_START || !isUtf8(body)) return utf8.decode(body)
  return transcode(body, 'utf8', 'utf16le').toString('utf16le')
}

/** The `error` member of a failure's body, which may be a proxy's HTML. */
function errorOf(bytes: Buffer): unknown {
  try {
    const body: unknown = JSON.parse(utf8.decode(bytes))
    return isObject(body) ? body['error'] : undefined
  } catch {
    return undefined
  }
}

/**
 * @param error with `status` and `message` (docs/SERVICE.md, Errors); a text is its message
 * @param shape what the failure is where the error has no code
 */
function errorBody(reply: Reply, target: CallTarget, error: unknown, shape: Shape | null): Error {
  const { status, message } = isObject(error) ? error : { status: null, message: error }
  const isCode = (typeof status === 'string' && status.trim() !== '') || typeof status === 'number'
  const detail = typeof message === 'string' ? message : ''
  if (!isCode) return unusable(reply, target, shape, detail)
  return callFailure(target, { ...reply, code: String(status), detail })
}

function unusable(reply: Reply, target: CallTarget, shape: Shape | null, detail: string): Error {
  return callFailure(target, { ...reply, shape, detail })
}

/** Deeper than any envelope is; the body is a stranger's. */
const MAX_DEPTH = 6

/** Usual members that say that more records follow, in lower case and without `_` and `-`. */
const MORE_FOLLOWS =
  /^(next.*|has(more|next).*|more(results|href)?|(end|after)?cursor|marker|pagetoken|continuation(token)?|lastevaluatedkey|startafter|resumetoken|(is)?(truncated|partial)|incomplete)$/
const TOTAL_ITEMS = /^total(count|items|results|size)?$/
const TOTAL_PAGES = /^(totalpages|pagecount|numpages)$/

/**
 * True when a success body hints that its `result.data` is one page of several. Paging is not known (docs/SERVICE.md),
 * so any usual word for it counts: beside `result`, in it, and in objects within either. Arrays are the records, whatever they
 * are called.
 * @param items how many `data` has
 */
function isOnePageOfSeveral(object: Json, items: number, depth = 0): boolean {
  return Object.entries(object).some(([name, value]) => {
    if (Array.isArray(value)) return false
    const word = name.toLowerCase().replaceAll(/[^a-z]/g, '')
    if (MORE_FOLLOWS.test(word) && saysSo(value)) return true
    if (TOTAL_ITEMS.test(word) && Number(value) > items) return true
    if (TOTAL_PAGES.test(word) && Number(value) > 1) return true
    if (word === 'status' && /partial|incomplete/i.test(String(value))) return true
    return isObject(value) && depth < MAX_DEPTH && isOnePageOfSeveral(value, items, depth + 1)
  })
}

function saysSo(value: unknown): boolean {
  if (typeof value === 'string') return !/^\s*(|0|no|none|null|false)\s*$/i.test(value)
  if (typeof value === 'object') return value !== null && Object.keys(value).length > 0
  return Boolean(value)
}

/** Bytes of a digest: 128 bits of SHA-256, short enough to keep a million and far too long to meet twice. */
const DIGEST_BYTES = 16

/**
 * The first bytes of a digest that is given as Latin-1, which is how Node hands it over cheapest. They lie in a buffer shared
 * with others: one of its own for each would burden the heap.
 */
export function shortDigest(digest: string): Buffer {
  return Buffer.from(digest.slice(0, DIGEST_BYTES), 'latin1')
}
