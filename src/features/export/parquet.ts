import type { Writable } from 'node:stream'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { SchemaElement } from 'hyparquet-writer'
import type { ExportColumn, ExportRows } from './rows.ts'
import { fromPostgres, isJson, writeAll } from './text.ts'
import type { OnRows } from './text.ts'

/** A row group is in memory as a whole, so rows and characters are limited. */
const ROWS_A_GROUP = 20_000
const CHARACTERS_A_GROUP = 4 * 1024 * 1024

type Value = string | number | bigint | boolean | Uint8Array

/** How a column of PostgreSQL is written. */
interface ParquetColumn {
  readonly element: Omit<SchemaElement, 'name'>
  /** @returns null for a value that the type of Parquet lacks, such as an infinite time */
  readonly value: (text: string) => Value | null
}

/**
 * Writes rows as Parquet, a row group at a time. Texts are UTF-8, `jsonb` is JSON, times are microseconds in UTC,
 * `numeric` is a double; values of all other types are text.
 */
export async function writeParquet(
  rows: ExportRows,
  out: Writable,
  columns: readonly ExportColumn[],
  onRows: OnRows,
): Promise<void> {
  const parquet = columns.map(({ type }) => columnOf(type))
  const bytes = new Bytes()
  const schema: SchemaElement[] = [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name }, place) => ({ name, ...(parquet[place] as ParquetColumn).element })),
  ]
  const writer = new ParquetWriter({ writer: bytes, schema, createdBy: 'collab-sync' })
  let group: (Value | null)[][] = columns.map(() => [])
  let characters = 0
  let count = 0
  const flush = async () => {
    const columnData = columns.map(({ name, type }, place) => ({
      name,
      data: group[place] ?? [],
      // The least and the greatest JSON help no reader, and would be written in full.
      statistics: !isJson(type),
    }))
    await writer.write({ columnData, rowGroupSize: ROWS_A_GROUP })
    await writeAll(out, bytes.take())
    group = columns.map(() => [])
    characters = 0
    onRows(count)
  }
  for await (const values of rows) {
    values.forEach((text, place) => {
      characters += text?.length ?? 0
      group[place]?.push(text === null ? null : (parquet[place]?.value(text) ?? null))
    })
    count += 1
    if ((group[0]?.length ?? 0) >= ROWS_A_GROUP || characters >= CHARACTERS_A_GROUP) await flush()
  }
  if ((group[0]?.length ?? 0) > 0) await flush()
  nameTypes(schema)
  await writer.finish()
  await writeAll(out, bytes.take())
}

/** The bytes written since the previous `take`. */
class Bytes extends ByteWriter {
  take(): Uint8Array {
    const taken = Buffer.from(this.getBytes())
    this.index = 0
    return taken
  }
}

const optional = { repetition_type: 'OPTIONAL' } as const
const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8', ...optional } as const
const JSON_TEXT = { type: 'BYTE_ARRAY', logical_type: { type: 'JSON' }, ...optional } as const

/**
 * Many readers know JSON by its older name only, and recognize a time in UTC by its newer name only. Both are set after the
 * values are written: otherwise the writer converts the values itself, and numbers lose digits.
 */
function nameTypes(schema: readonly SchemaElement[]): void {
  for (const element of schema) {
    if (element.logical_type?.type === 'JSON') element.converted_type = 'JSON'
    if (element.converted_type === 'TIMESTAMP_MICROS')
      element.logical_type = { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' }
  }
}

function columnOf(type: string): ParquetColumn {
  if (isJson(type)) return { element: JSON_TEXT, value: (text) => Buffer.from(text) }
  switch (type) {
    case 'boolean':
      return { element: { type: 'BOOLEAN', ...optional }, value: (text) => text === 't' }
    case 'smallint':
    case 'integer':
      return { element: { type: 'INT32', ...optional }, value: Number }
    case 'bigint':
      return { element: { type: 'INT64', ...optional }, value: BigInt }
    case 'numeric':
    case 'real':
    case 'double precision':
      return { element: { type: 'DOUBLE', ...optional }, value: Number }
    case 'date':
      return { element: { type: 'INT32', converted_type: 'DATE', ...optional }, value: days }
    case 'timestamp with time zone':
      return {
        element: { type: 'INT64', converted_type: 'TIMESTAMP_MICROS', ...optional },
        value: micros,
      }
    default:
      return { element: TEXT, value: (text) => fromPostgres(type, text) }
  }
}

function days(text: string): number | null {
  const ms = Date.parse(`${text}T00:00:00Z`)
  return Number.isNaN(ms) ? null : ms / 86_400_000
}

/** `2026-11-21 09:30:00.123456+00`: a Date would lose the last three digits. */
function micros(text: string): bigint | null {
  const [, seconds, fraction = ''] = /^(.*?)(?:\.(\d+))?\+00$/.exec(text) ?? []
  const ms = Date.parse(`${seconds?.replace(' ', 'T')}Z`)
  if (Number.isNaN(ms)) return null
  return BigInt(ms) * 1000n + BigInt(fraction.padEnd(6, '0'))
}
