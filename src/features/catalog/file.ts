import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { extname } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { UsageError } from '../../base/errors.ts'
import { columnsFault, memberOfColumn, parseCells, parseJsonLine } from './lines.ts'
import type { CatalogSource, NumberedLine, ParsedLine } from './lines.ts'

/**
 * A file of NDJSON or CSV in UTF-8, or standard input for `-`. The extension says which (`.csv`;
 * `.ndjson`, `.jsonl`, `.json`); with any other, the first character does: `{` begins NDJSON.
 * A byte order mark and CRLF are taken, blank lines are skipped. Standard input can be read once.
 * @param path of the file, or `-`
 */
export function fileSource(path: string): CatalogSource {
  const name = path === '-' ? 'standard input' : path
  return {
    name,
    unit: 'line',
    async *lines() {
      const bytes = path === '-' ? process.stdin : createReadStream(path)
      try {
        yield* readLines(bytes, FORMATS[extname(path).toLowerCase()])
      } catch (error) {
        if (error instanceof UsageError) throw new UsageError(`${name}: ${error.message}`)
        throw asUsageError(name, error)
      }
    },
  }
}

type Format = 'csv' | 'ndjson'

const FORMATS: Record<string, Format> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'ndjson',
}

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EACCES: 'it may not be read',
  EISDIR: 'it is a directory',
}

async function* readLines(
  bytes: AsyncIterable<Buffer>,
  known: Format | undefined,
): AsyncGenerator<NumberedLine> {
  const blocks = textLines(bytes)
  const head: TextLine[][] = []
  let first: string | undefined
  while (first === undefined) {
    const { value, done } = await blocks.next()
    if (done) return
    head.push(value)
    first = value.find(({ text }) => text === null || text.trim() !== '')?.text ?? undefined
    if (value.some(({ text }) => text === null)) break
  }
  const all = prepend(head, blocks)
  const format = known ?? (first?.trimStart().startsWith('{') ? 'ndjson' : 'csv')
  yield* format === 'csv' ? csvLines(all) : jsonLines(all)
}

async function* jsonLines(blocks: AsyncIterable<TextLine[]>): AsyncGenerator<NumberedLine> {
  for await (const block of blocks)
    for (const { number, text } of block) {
      if (text === null) yield { number, complaint: 'is not UTF-8' }
      else if (text.trim() !== '') yield { number, ...parseJsonLine(text) }
    }
}

async function* prepend<T>(head: T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield* head
  yield* rest
}

function asUsageError(name: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall === undefined) return error
  return new UsageError(`${name} cannot be read: ${REASONS[code ?? ''] ?? code}.`)
}

/**
 * Catalog lines of a CSV whose header holds the catalog's names. An empty cell counts as absent, and a
 * record of nothing else as a blank line. A record that begins with one of those names is a further header, as of
 * files that were put one after the other, and holds for what follows it. A record is numbered by the line it ends on.
 */
async function* csvLines(blocks: AsyncIterable<TextLine[]>): AsyncGenerator<NumberedLine> {
  const badLines: number[] = []
  const parser = parse({
    info: true,
    // Each of them wherever it stands: found out from the first line, another one would be part of a cell.
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
  })
  // An error of the input reaches the loop below through the parser.
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

/** A physical line without its line feed; `text` is null where its bytes are no UTF-8. */
export interface TextLine {
  number: number
  text: string | null
}

const MAX_LINE_BYTES = 1024 * 1024
const LINE_FEED = 0x0a

/**
 * Cuts bytes into lines, some at a time, holding no more than one line and one chunk. A byte order
 * mark at the beginning is left out.
 * @throws UsageError where a line is longer than 1 MiB: the input is no list of lines
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
  // One check for the whole block; line by line only to find the culprit.
  const texts = isUtf8(bytes)
    ? bytes.toString().split('\n')
    : bytes.toString('latin1').split('\n').map(strictText)
  return texts.map((text, index) => {
    const number = first + index
    return { number, text: number === 1 && text !== null ? text.replace(/^\uFEFF/, '') : text }
  })
}

/** @param latin1 bytes as characters of their numbers */
function strictText(latin1: string): string | null {
  const bytes = Buffer.from(latin1, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : null
}
