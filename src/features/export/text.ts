import type { Writable } from 'node:stream'
import type { ExportColumn, ExportRows } from './rows.ts'

export const EXPORT_FORMATS = ['csv', 'ndjson', 'parquet'] as const

export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** A format that is written row by row. */
export interface RowFormat {
  /** Written before the first row. */
  readonly head: string
  /** One row, from PostgreSQL's texts of its values. */
  row(values: readonly (string | null)[]): string
}

/** Called with the number of rows written so far, and finally with all. */
export type OnRows = (rows: number) => void

/** Characters of a write: one write for each row would take most of the time. */
const CHUNK_CHARACTERS = 64 * 1024

/** Writes rows as text, no faster than `out` accepts them. */
export async function writeText(
  rows: ExportRows,
  out: Writable,
  format: RowFormat,
  onRows: OnRows,
): Promise<void> {
  let count = 0
  let chunk = format.head
  for await (const values of rows) {
    chunk += format.row(values)
    count += 1
    if (chunk.length < CHUNK_CHARACTERS) continue
    await writeAll(out, chunk)
    chunk = ''
    onRows(count)
  }
  await writeAll(out, chunk)
  onRows(count)
}

/** Resolves when `out` has accepted the chunk, however slow its reader is. @throws the error of `out`, such as EPIPE */
export async function writeAll(out: Writable, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) =>
    out.write(chunk, (error) => (error ? reject(error) : resolve())),
  )
}

/** Spreadsheets recognize UTF-8 by it. */
const BYTE_ORDER_MARK = '\uFEFF'

/**
 * Texts that a spreadsheet runs as a formula (OWASP, CSV Injection): a sign in any width, also after characters that it trims
 * or does not show; or a tab or line break, after which it may begin a cell.
 */
const STARTS_A_FORMULA =
  /^[\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@\u2212＝＋－＠﹢﹣﹦﹫]|^[\t\r\n]/u

/** By the name of the column and not by the value: otherwise some IDs of a column would change and no longer join. */
const IS_ID = /(^|_)id$/

/**
 * CSV of RFC 4180 in UTF-8, with a header. A null is an empty cell, an empty text is `""`.
 * @param options.formulas false puts an apostrophe before texts that a spreadsheet would run as a formula. IDs, numbers
 * and JSON never change.
 */
export function csvFormat(
  columns: readonly ExportColumn[],
  options: { formulas: boolean; byteOrderMark: boolean },
): RowFormat {
  const cells = columns.map(({ name, type }) => {
    if (isNumber(type)) return (value: string) => value
    if (isTime(type) || type === 'boolean') return (value: string) => fromPostgres(type, value)
    const isExact = options.formulas || IS_ID.test(name) || isJson(type)
    return isExact ? quoted : (value: string) => quoted(harmless(value))
  })
  const mark = options.byteOrderMark ? BYTE_ORDER_MARK : ''
  return {
    head: `${mark}${columns.map(({ name }) => quoted(name)).join(',')}\r\n`,
    row: (values) =>
      `${values.map((value, place) => (value === null ? '' : cells[place]?.(value))).join(',')}\r\n`,
  }
}

function harmless(text: string): string {
  return STARTS_A_FORMULA.test(text) ? `'${text}` : text
}

function quoted(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** One JSON object a line with every column; numbers keep every digit, JSON stays JSON. */
export function ndjsonFormat(columns: readonly ExportColumn[]): RowFormat {
  const members = columns.map(({ name, type }) => {
    const key = `${JSON.stringify(name)}:`
    return (value: string | null) => key + (value === null ? 'null' : inJson(type, value))
  })
  return {
    head: '',
    row: (values) => `{${values.map((value, place) => members[place]?.(value)).join(',')}}\n`,
  }
}

function inJson(type: string, value: string): string {
  if (isJson(type)) return value
  if (type === 'boolean') return value === 't' ? 'true' : 'false'
  // JSON has no NaN and no Infinity.
  if (isNumber(type) && /\d/.test(value)) return value
  return JSON.stringify(fromPostgres(type, value))
}

const NUMBERS = new Set(['smallint', 'integer', 'bigint', 'numeric', 'real', 'double precision'])

function isNumber(type: string): boolean {
  return NUMBERS.has(type)
}

/** Arrays are selected as JSON. */
export function isJson(type: string): boolean {
  return type === 'jsonb' || type === 'json' || type.endsWith('[]')
}

function isTime(type: string): boolean {
  return type === 'timestamp with time zone'
}

/** ISO 8601 for times, `true` and `false`; everything else as PostgreSQL writes it. */
export function fromPostgres(type: string, value: string): string {
  if (type === 'boolean') return value === 't' ? 'true' : 'false'
  // In the time zone UTC it is written `2026-11-21 09:30:00.123+00`.
  return isTime(type) ? value.replace(' ', 'T').replace(/\+00$/, 'Z') : value
}
