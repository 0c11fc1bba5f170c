import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliDecompress, unzip } from 'node:zlib'
import { isObject } from '../../base/json.ts'
import type { Json } from '../../base/json.ts'
import { valuesIn } from '../../base/json-text.ts'
import { callFailure } from './errors.ts'
import type { CallTarget } from './errors.ts'
import type { Reply } from './request.ts'

/** The client requests no `content-encoding`, but a proxy may encode the response all the same. */
const DECODERS = new Map([
  ['gzip', promisify(unzip)],
  ['x-gzip', promisify(unzip)],
  ['deflate', promisify(unzip)],
  ['br', promisify(brotliDecompress)],
])

/**
 * Undoes `content-encoding` (RFC 9110, 8.4).
 * @param maxBytes most bytes of the decoded body
 * @throws CallError where the encoding is not known here, the body is damaged, or it is larger than it may be
 */
export async function decodeBody(
  reply: Reply,
  target: CallTarget,
  maxBytes: number,
): Promise<Reply> {
  const encoding = (reply.encoding ?? '').trim().toLowerCase()
  if (encoding === '' || encoding === 'identity') return reply
  const decode = DECODERS.get(encoding)
  const fail = (shape: 'body_unreadable' | 'body_too_large', detail: string, cause?: unknown) =>
    callFailure(target, { ...reply, shape, detail, cause })
  if (decode === undefined)
    throw fail('body_unreadable', `content-encoding ${JSON.stringify(encoding)} is not known here`)
  try {
    const body = await decode(reply.body, { maxOutputLength: maxBytes })
    reply.release?.()
    return { ...reply, body, release: undefined }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw fail('body_too_large', `a response above ${maxBytes} bytes when decoded`, error)
    throw fail(
      'body_unreadable',
      `the body is not ${encoding} as content-encoding says (${reply.body.length} bytes)`,
      error,
    )
  }
}

/** The body of a response as JSON. */
export interface Body {
  /** The outermost object; an empty one where the body is no object. */
  readonly body: Json
  /** `result.data`; null where that is no array. */
  readonly data: unknown[] | null
  /** The very text of `data`; empty where it is null. */
  readonly dataText: string
  /** Whether `digestInAnyOrder` cuts this body between its records and nowhere else. */
  readonly isCutWell: boolean
}

/** A member that decides how the body is read is there twice, so that its meaning is not known. */
export class AmbiguousBodyError extends Error {
  override name = 'AmbiguousBodyError'
}

/**
 * Reads a body and finds the text of its records, so that every reader of either sees the same records.
 * @throws SyntaxError where it is not JSON; AmbiguousBodyError
 */
export function readBody(text: string): Body {
  const start = text.indexOf('[')
  const end = text.lastIndexOf(']') + 1
  try {
    // If one value of valid JSON is replaced by another, the text stays valid, and the other way round.
    const around = readAround(`${text.slice(0, start)}[]${text.slice(end)}`)
    if (start >= 0 && around.data?.length === 0 && around.dataAt === start) {
      const dataText = text.slice(start, end)
      const records = parseRecords(dataText)
      const data = records ?? (JSON.parse(dataText) as unknown[])
      return { body: around.body, data, dataText, isCutWell: records !== null }
    }
  } catch {
    // The outermost brackets are not those of the records, or the body is odd: it is read as a whole.
  }
  const { body, data, dataAt, dataEnd } = readWhole(text)
  return { body, data, dataText: text.slice(dataAt, dataEnd), isCutWell: false }
}

/** What is around the records of a usual body is far shorter. */
const AROUND_UNITS_MAX = 4096

let last: { readonly text: string; readonly read: ReturnType<typeof readWhole> } | null = null

/** The text around the records is the same in most bodies, so it is parsed once (docs/decisions/2026-11-29-cpu-of-a-call.md). */
function readAround(text: string) {
  if (last?.text === text) return last.read
  const read = readWhole(text)
  if (text.length <= AROUND_UNITS_MAX) last = { text, read }
  return read
}

function readWhole(text: string) {
  const read: unknown = JSON.parse(text)
  const body = isObject(read) ? read : {}
  const none = { body, data: null, dataAt: 0, dataEnd: 0 }
  if (body !== read) return none
  const [resultAt, resultEnd] = placeOf(text, 'result', 'error')
  const { result } = body
  if (!isObject(result)) return none
  const [from, to] = placeOf(text.slice(resultAt, resultEnd), 'data', 'status')
  const data = result['data']
  if (!Array.isArray(data)) return none
  return { body, data: data as unknown[], dataAt: resultAt + from, dataEnd: resultAt + to }
}

/**
 * Where the value of a member begins and ends in the text of an object.
 * @throws AmbiguousBodyError where that member or the other one is there twice
 */
function placeOf(objectText: string, name: string, other: string): [number, number] {
  const values = valuesIn(objectText)
  for (const each of [name, other])
    if (values.filter((value) => value.name === each).length > 1)
      throw new AmbiguousBodyError(`${each} is in the body twice`)
  const { start, end } = values.find((value) => value.name === name) ?? { start: 0, end: 0 }
  const value = objectText.slice(start, end)
  return [end - value.trimStart().length, start + value.trimEnd().length]
}

/**
 * A digest of a body that does not depend on the order of its records. The body is not parsed for it, but cut:
 * `[{"commentId":…},{"commentId":…}]` at each `},{"commentId":`, whatever the first member is called. Two bodies with the same
 * digest have the same text before and after their records, and the same parts between: where `parseRecords` finds that each
 * part of one of them is a whole record, the other one has the same records.
 * @returns 32 bytes as Latin-1; null where there are fewer than two records, or so many that their digests would take much
 *   memory, and where the first record does not begin with a member of a short name
 */
export function digestInAnyOrder(body: Buffer): string | null {
  const start = body.indexOf('[')
  const end = body.lastIndexOf(']')
  const first = body.toString('latin1', start + 1, start + 1 + FIRST_MEMBER_UNITS_MAX)
  const sum = (from: number, to?: number) => hash('sha256', body.subarray(from, to), 'binary')
  const records = cut(body, { first, start, end }, sum)
  if (records === null) return null
  const sums = [sum(0, start + 1), sum(end), ...records.sort()]
  return hash('sha256', Buffer.from(sums.join(''), 'latin1'), 'binary')
}

/**
 * Parses each record of an array by itself, cut as `digestInAnyOrder` cuts the bytes.
 * @param arrayText from the first to the last bracket of the body
 * @returns null where that cuts nothing, or a part is no whole record
 */
function parseRecords(arrayText: string): unknown[] | null {
  const first = arrayText.slice(1, 1 + FIRST_MEMBER_UNITS_MAX)
  const array = { first, start: 0, end: arrayText.length - 1 }
  try {
    return cut(arrayText, array, (from, to) => JSON.parse(arrayText.slice(from, to)) as unknown)
  } catch {
    return null
  }
}

/** A digest of each record is kept until all are sorted. */
const CUT_RECORDS_MAX = 100_000
/** A first member with a longer name is not found. */
const FIRST_MEMBER_UNITS_MAX = 100

/**
 * @param array its brackets, and how its text begins behind the first
 * @param read makes a record of the text between two positions
 */
function cut<T>(
  body: Buffer | string,
  { first, start, end }: { first: string; start: number; end: number },
  read: (from: number, to: number) => T,
): T[] | null {
  const beginning = /^\{"[ -~]*?":/.exec(first)?.[0]
  if (beginning === undefined || start < 0) return null
  const boundary = `},${beginning}`
  const records: T[] = []
  let from = start + 1
  for (let at = body.indexOf(boundary, from); at >= 0; at = body.indexOf(boundary, from)) {
    if (at >= end || records.length === CUT_RECORDS_MAX) return null
    records.push(read(from, at + 1))
    from = at + 2
  }
  if (records.length === 0) return null
  records.push(read(from, end))
  return records
}
