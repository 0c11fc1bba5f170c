import type { ExportColumn } from '../database/export.ts'
import { fromPostgres, isNumber, isTime } from './values.ts'
import type { RowFormat } from './write-rows.ts'

/** So that a spreadsheet takes the file for UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF'

/**
 * What makes a spreadsheet take a cell for a formula (OWASP, CSV Injection): a sign, in any width, also behind what it
 * trims or does not show; or a tab or line break, behind which it may begin a cell.
 */
const STARTS_A_FORMULA =
  /^[\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@\u2212＝＋－＠﹢﹣﹦﹫]|^[\t\r\n]/u

/**
 * CSV of RFC 4180 in UTF-8, with a header. A null is an empty cell, an empty text is `""`.
 * @param options.formulas false puts an apostrophe before texts that a spreadsheet would run as a formula
 * @param options.byteOrderMark true begins with the mark by which spreadsheets know UTF-8
 */
export function csvFormat(
  columns: readonly ExportColumn[],
  options: { formulas: boolean; byteOrderMark: boolean },
): RowFormat {
  const cells = columns.map(({ type }) => {
    if (isNumber(type)) return (value: string) => value
    if (isTime(type) || type === 'boolean') return (value: string) => fromPostgres(type, value)
    return options.formulas ? quoted : (value: string) => quoted(harmless(value))
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
