import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { readJson } from './exact-json.ts'
import type { Json, JsonObject } from './exact-json.ts'
import { LIMITS } from './record-model.ts'

/** One call as the service saw it. */
export interface Exchange {
  /** The comments asked for; null for a listing. */
  readonly ids: readonly number[] | null
  readonly httpStatus: number
  readonly encoding: string | null
  /** As it went over the wire. */
  readonly body: Buffer
  /** True where the connection was broken before the end of the body. */
  readonly isCut: boolean
}

export type ServiceResponse =
  | {
      readonly kind: 'failed'
      readonly httpStatus: number | null
      readonly errorStatus: string | null
    }
  | {
      readonly kind: 'data'
      readonly items: Json[]
      readonly text: string
      readonly paged: boolean
    }

/** What an answer says, by docs/SERVICE.md and docs/FAILURES.md. */
export function readResponse(exchange: Exchange, maxBodyBytes: number): ServiceResponse {
  const { httpStatus, isCut } = exchange
  const failed = (errorStatus: string | null): ServiceResponse => ({
    kind: 'failed',
    httpStatus,
    errorStatus,
  })
  if (exchange.body.length > maxBodyBytes) return failed('body_too_large')
  if (isCut) return failed('body_cut')
  const bytes = decoded(exchange, maxBodyBytes)
  if (typeof bytes === 'string') return failed(bytes)
  const text = textOf(bytes)
  const body = text === null ? null : readJson(text)
  const error = body?.kind === 'object' ? body.members.get('error') : undefined
  if (httpStatus >= 300 && httpStatus < 400) return failed('redirect')
  if (httpStatus < 200 || httpStatus >= 300 || httpStatus === 206) return failed(codeOf(error))
  if (bytes.length === 0) return failed('body_empty')
  if (text === null)
    return failed(bytes[0] === 0x1f && bytes[1] === 0x8b ? 'body_unreadable' : 'body_not_utf8')
  if (body === null) {
    if (/^\s*<(!doctype|html|head|body|\?xml)/i.test(text)) return failed('web_page')
    return failed(/^.?\0/.test(text) ? 'body_not_utf8' : 'body_unreadable')
  }
  if (body.kind !== 'object') return failed('no_data')
  const result = body.members.get('result')
  if (isAmbiguous(body) || (result?.kind === 'object' && isAmbiguous(result)))
    return failed('body_ambiguous')
  if (error !== undefined && isFailure(error)) return failed(codeOf(error) ?? 'error_without_code')
  const data = result?.kind === 'object' ? result.members.get('data') : undefined
  if (result?.kind !== 'object' || (data?.kind !== 'array' && data?.kind !== 'null'))
    return failed('no_data')
  const status = result.members.get('status')
  if (status?.kind === 'string' && SPEAKS_OF_FAILURE.test(status.text))
    return failed('failed_status')
  if (data.kind !== 'array') return { kind: 'data', items: [], text, paged: true }
  if (data.items.length > LIMITS.records) return failed('too_many_records')
  return { kind: 'data', items: data.items, text, paged: isPage(body, data.items.length, 0) }
}

/** An object with members, a text, or what else is not as good as nothing. */
function isFailure(error: Json): boolean {
  if (error.kind === 'object') return error.members.size > 0
  if (error.kind === 'array') return error.items.length > 0
  if (error.kind === 'string') return error.text !== ''
  if (error.kind === 'number') return Number(error.text) !== 0
  return error.kind === 'true'
}

const SPEAKS_OF_FAILURE = /error|fail|denied|invalid|refused|unauth|forbidden|timeout|abort/i
const DECIDING = ['result', 'data', 'error', 'status']

function isAmbiguous({ twice }: JsonObject): boolean {
  return DECIDING.some((name) => twice.has(name))
}

/** The bytes without their encoding, or the failure of reading them. */
function decoded({ encoding, body }: Exchange, maxBodyBytes: number): Buffer | string {
  const name = (encoding ?? '').trim().toLowerCase()
  if (name === '' || name === 'identity') return body
  const decode = DECODERS[name]
  if (decode === undefined) return 'body_unreadable'
  try {
    return decode(body, { maxOutputLength: maxBodyBytes })
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    return isTooLarge ? 'body_too_large' : 'body_unreadable'
  }
}

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Buffer

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  br: brotliDecompressSync,
  deflate: inflateSync,
}

/** Null for what is not UTF-8. A byte order mark is no part of the text. */
function textOf(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** `error.status` (docs/SERVICE.md, Errors). */
function codeOf(error: Json | undefined): string | null {
  const status = error?.kind === 'object' ? error.members.get('status') : undefined
  if (status?.kind === 'number') return cut(String(Number(status.text)))
  return status?.kind === 'string' && status.text.trim() !== '' ? cut(status.text) : null
}

function cut(code: string): string {
  return code.slice(0, 100).replaceAll('\0', '').toWellFormed()
}

const HINTS = new Set(['nextpagetoken', 'hasmore', 'nextcursor', 'next', 'partial', 'incomplete'])

/** Whether a body hints that it is one page of several; only the hints that the generator knows. */
function isPage(object: JsonObject, items: number, level: number): boolean {
  for (const [name, value] of object.members) {
    if (value.kind === 'null' || value.kind === 'array') continue
    const word = name.toLowerCase().replaceAll(/[^a-z]/g, '')
    if (HINTS.has(word) && speaks(value)) return true
    if (word === 'total' && Number(plain(value)) > items) return true
    if (word === 'status' && value.kind === 'string' && /partial|incomplete/i.test(value.text))
      return true
    if (value.kind === 'object' && level < 6 && isPage(value, items, level + 1)) return true
  }
  return false
}

function speaks(value: Json): boolean {
  if (value.kind === 'string') return !/^\s*(|0|no|none|null|false)\s*$/i.test(value.text)
  if (value.kind === 'object') return value.members.size > 0
  return Boolean(plain(value))
}

function plain(value: Json): unknown {
  if (value.kind === 'number') return Number(value.text)
  if (value.kind === 'string') return value.text
  if (value.kind === 'object') return {}
  return value.kind === 'true'
}
