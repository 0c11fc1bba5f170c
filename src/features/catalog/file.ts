import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { UsageError } from '../../base/errors.ts'
import { columnsFault, memberOfColumn, parseCells, parseJsonLine } from './lines.ts'
import type { CatalogSource, NumberedLine, ParsedLine } from './lines.ts'

/**
 * A file of NDJSON or CSV in UTF-8, or standard input for `-`. The extension determines the format: `.csv`; `.ndjson`,
 * `.jsonl` or `.json`. With any other, the file is NDJSON if its first character is `{`, else CSV. A byte order mark and CRLF
 * are accepted, and blank lines are skipped.
 */
export function fileSource(path: string): CatalogSource {
  const name = path === '-' ? 'standard input' : path
  return {
    name,
    unit: 'line',
    async *lines() {
      const bytes = path === '-' ? process.stdin : createReadStream(path)
      try {
        yield* readLines(bytes, path)
      } catch (error) {
        if (error instanceof UsageError) throw new UsageError(`${name}: ${error.message}`)
        const { syscall, message } = error as NodeJS.ErrnoException
        if (syscall === undefined) throw error
        throw new UsageError(`${name} cannot be read: ${message}.`)
      }
    },
  }
}

async function* readLines(
  bytes: AsyncIterable<Buffer>,
  path: string,
): AsyncGenerator<NumberedLine> {
  const blocks = textLines(bytes)
  const { value: first = [] } = (await blocks.next()) as { value?: TextLine[] }
  const start = first.find(({ text }) => text?.trim() !== '')?.text?.trimStart()
  const isJson =
    /\.(ndjson|jsonl|json)$/i.test(path) || (!/\.csv$/i.test(path) && start?.startsWith('{'))
  yield* isJson ? jsonLines(prepend(first, blocks)) : csvLines(prepend(first, blocks))
}

async function* jsonLines(blocks: AsyncIterable<TextLine[]>): AsyncGenerator<NumberedLine> {
  for await (const block of blocks)
    for (const { number, text } of block) {
      if (text === null) yield { number, complaint: 'is not UTF-8' }
      else if (text.trim() !== '') yield { number, ...parseJsonLine(text) }
    }
}

async function* prepend<T>(first: T, others: AsyncIterable<T>): AsyncGenerator<T> {
  yield first
  yield* others
}

/**
 * Catalog lines of CSV with a header. An empty cell counts as absent, and a record of empty cells as a blank line. Concatenated
 * files have several headers: a record that begins with a column name is one. The number of a record is that of its last line.
 */
async function* csvLines(blocks: AsyncIterable<TextLine[]>): AsyncGenerator<NumberedLine> {
  const badLines: number[] = []
  const parser = parse({
    info: true,
    // Without this, csv-parse accepts only the line end that it finds first.
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
  })
  // The parser passes errors of the input on to the loop below.
  pipeline(Readable.from(csvText(blocks, badLines), { objectMode: false }), parser, () => {})
  let header: string[] | null = null
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvRecord>) {
      for (const number of badLines.splice(0)) yield { number, complaint: 'is not UTF-8' }
      const number = info.lines
      if (header === null || memberOfColumn(record[0] ?? '') !== null) {
        header = record
        const fault = columnsFault(header)
        if (fault === null) continue
        yield { number, complaint: fault }
        return
      }
      if (record.every((cell) => cell === '')) continue
      yield { number, ...parseRecord(header, record) }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    yield { number: Number(error['lines'] ?? 0), complaint: `is not CSV (${error.message})` }
  }
  for (const number of badLines) yield { number, complaint: 'is not UTF-8' }
}

interface CsvRecord {
  record: string[]
  info: { lines: number }
}

function parseRecord(header: string[], record: string[]): ParsedLine {
  if (record.length !== header.length)
    return { complaint: `has ${record.length} cells where the header has ${header.length}` }
  return parseCells(record.map((cell, index) => [header[index] ?? '', cell || undefined]))
}

async function* csvText(
  blocks: AsyncIterable<TextLine[]>,
  badLines: number[],
): AsyncGenerator<string> {
  for await (const block of blocks) {
    for (const { number, text } of block) if (text === null) badLines.push(number)
    yield block.map(({ text }) => `${text ?? ''}\n`).join('')
  }
}

/** A line of the file without its line feed; `text` is null if its bytes are not UTF-8. */
export interface TextLine {
  number: number
  text: string | null
}

const MAX_LINE_BYTES = 1024 * 1024
const LINE_FEED = 0x0a

/**
 * Splits bytes into lines without a byte order mark. Buffers at most one line and one chunk.
 * @throws UsageError if a line is longer than 1 MiB
 */
export async function* textLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<TextLine[]> {
  let rest: Buffer = Buffer.alloc(0)
  let number = 1
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const end = bytes.lastIndexOf(LINE_FEED)
    rest = bytes.subarray(end + 1)
    if (end >= 0) {
      const lines = decode(bytes.subarray(0, end), number)
      number += lines.length
      yield lines
    }
    if (rest.length > MAX_LINE_BYTES)
      throw new UsageError(`line ${number} is longer than ${MAX_LINE_BYTES} bytes.`)
  }
  if (rest.length > 0) yield decode(rest, number)
}

function decode(bytes: Buffer, first: number): TextLine[] {
  // Checks single lines only if the block is not UTF-8.
  const texts = isUtf8(bytes)
    ? bytes.toString().split('\n')
    : bytes.toString('latin1').split('\n').map(strictText)
  return texts.map((text, index) => {
    const number = first + index
    return { number, text: number === 1 && text !== null ? text.replace(/^\uFEFF/, '') : text }
  })
}

function strictText(latin1: string): string | null {
  const bytes = Buffer.from(latin1, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : null
}
