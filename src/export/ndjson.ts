import type { ExportColumn } from '../database/export.ts'
import { fromPostgres, isJson, isNumber } from './values.ts'
import type { RowFormat } from './write-rows.ts'

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
