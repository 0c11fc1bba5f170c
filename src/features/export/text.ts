import type { ExportColumn } from './rows.ts'
import type { RowFormat } from './target.ts'

/** What an export may be written as. */
export const EXPORT_FORMATS = ['csv', 'ndjson', 'parquet'] as const

export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** So that a spreadsheet takes the file for UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF'

/**
 * What makes a spreadsheet take a cell for a formula (OWASP, CSV Injection): a sign, in any width, also behind what it
 * trims or does not show; or a tab or line break, behind which it may begin a cell.
 */
const STARTS_A_FORMULA =
  /^[\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@\u2212＝＋－＠﹢﹣﹦﹫]|^[\t\r\n]/u

/** By the column's name, not by the value: otherwise some IDs of a column would change and no longer join. */
const IS_ID = /(^|_)id$/

/**
 * CSV of RFC 4180 in UTF-8, with a header. A null is an empty cell, an empty text is `""`.
 * @param options.formulas false puts an apostrophe before texts that a spreadsheet would run as a formula. IDs, numbers
 * and JSON are never changed.
 * @param options.byteOrderMark true begins with the mark by which spreadsheets know UTF-8
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

/** One JSON object a line, with every column in it; numbers keep every digit, JSON stays JSON. */
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

/** How PostgreSQL's own texts of values become those of others. */

const NUMBERS = new Set(['smallint', 'integer', 'bigint', 'numeric', 'real', 'double precision'])

export function isNumber(type: string): boolean {
  return NUMBERS.has(type)
}

/** Lists are read as JSON too. */
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
