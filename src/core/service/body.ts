import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { valuesIn } from '../../base/json-text.ts'
import { callFailure } from './errors.ts'
import type { Asked } from './errors.ts'
import { parseRecords } from './records-in-body.ts'
import type { Reply } from './request.ts'

/** The body of an answer as JSON. */
export interface Body {
  /** Its members, `result.data` aside: where that is an array, an empty one stands in its place. None where it is no object. */
  readonly body: Record<string, unknown>
  /** `result.data`; null where there is no such array. */
  readonly data: unknown[] | null
  /** The very text of `data`; empty where it is null. */
  readonly dataText: string
  /** Whether `digestInAnyOrder` cuts this body between its records and nowhere else. */
  readonly isCutWell: boolean
}

/** A member that the answer is read by is there twice: nobody knows which one counts. */
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
    // With one value of valid JSON replaced by another the rest is as valid as it was, and the other way round.
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
  if (data === null) return { body, data, dataText: '', isCutWell: false }
  const result = { ...(body['result'] as object), data: [] }
  const dataText = text.slice(dataAt, dataEnd)
  return { body: { ...body, result }, data, dataText, isCutWell: false }
}

/** What is around the records of a usual answer is far shorter. */
const AROUND_UNITS_MAX = 4096

let last: { readonly text: string; readonly read: ReturnType<typeof readWhole> } | null = null

/** What is around the records is the same in most answers. Reading it anew for each took 7 of 54 µs of CPU a call (measured). */
function readAround(text: string) {
  if (last?.text === text) return last.read
  const read = readWhole(text)
  if (text.length <= AROUND_UNITS_MAX) last = { text, read }
  return read
}

function readWhole(text: string) {
  const body: unknown = JSON.parse(text)
  if (!isObject(body)) return { body: {}, data: null, dataAt: -1, dataEnd: -1 }
  const result = placeOf(text, 0, ['result', 'error'])
  if (!isObject(body['result'])) return { body, data: null, dataAt: -1, dataEnd: -1 }
  const { start, end } = placeOf(text.slice(result.start, result.end), result.start, [
    'data',
    'status',
  ])
  const { data } = body['result']
  return {
    body,
    data: Array.isArray(data) ? (data as unknown[]) : null,
    dataAt: start,
    dataEnd: end,
  }
}

/** Where the value of the first of the members is. @throws AmbiguousBodyError where one of them is there twice */
function placeOf(
  objectText: string,
  offset: number,
  [name, other]: readonly [string, string],
): { start: number; end: number } {
  const values = valuesIn(objectText)
  for (const each of [name, other]) {
    if (values.filter((value) => value.name === each).length > 1)
      throw new AmbiguousBodyError(`${each} is in the body twice`)
  }
  const found = values.find((value) => value.name === name)
  if (found === undefined) return { start: -1, end: -1 }
  const padded = objectText.slice(found.start, found.end)
  const blanks = padded.length - padded.trimStart().length
  return {
    start: offset + found.start + blanks,
    end: offset + found.start + padded.trimEnd().length,
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Undoes `content-encoding` (RFC 9110, 8.4). We ask for none, but a proxy may encode all the same.
 * @param maxBytes most bytes of the decoded body
 * @throws CallError where the encoding is none that is known here, the body is damaged, or it is larger than it may be
 */
export async function decodeBody(reply: Reply, asked: Asked, maxBytes: number): Promise<Reply> {
  const fail = (shape: 'body_unreadable' | 'body_too_large', detail: string, cause?: unknown) =>
    callFailure(asked, { ...reply, shape, detail, cause })
  // The last one named was put on last.
  const encodings = (reply.encoding ?? '').toLowerCase().split(',').reverse()
  if (encodings.length > ENCODINGS_MAX)
    throw fail('body_unreadable', `content-encoding names ${encodings.length} encodings`)
  let body = reply.body
  for (const encoding of encodings.map((each) => each.trim())) {
    if (encoding === '' || encoding === 'identity') continue
    const decode = DECODERS.get(encoding)
    const named = JSON.stringify(encoding)
    if (decode === undefined)
      throw fail('body_unreadable', `content-encoding ${named} is not known here`)
    try {
      body = await decode(body, { maxOutputLength: maxBytes })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
        throw fail('body_too_large', `an answer above ${maxBytes} bytes when decoded`, error)
      throw fail('body_unreadable', `no ${encoding} (${reply.body.length} bytes)`, error)
    }
  }
  if (body === reply.body) return reply
  reply.release?.()
  return { ...reply, body, release: undefined }
}

/** Encodings on top of each other; each may make little into much. */
const ENCODINGS_MAX = 3

type Decode = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

/** First byte of the zlib format with its usual window; some servers send deflate without that format around it. */
const ZLIB_HEADER = 0x78

const DECODERS = new Map<string, Decode>([
  ['gzip', promisify(gunzip) as Decode],
  ['x-gzip', promisify(gunzip) as Decode],
  ['br', promisify(brotliDecompress) as Decode],
  [
    'deflate',
    (body, options) =>
      (promisify(body[0] === ZLIB_HEADER ? inflate : inflateRaw) as Decode)(body, options),
  ],
])
