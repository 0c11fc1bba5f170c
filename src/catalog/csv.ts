import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { columnsFault, memberOfColumn, parseMembers } from './lines.ts'
import type { NumberedLine } from './source.ts'
import type { TextLine } from './text-lines.ts'

/**
 * Catalog lines of a CSV whose header holds the catalog's names. An empty cell counts as absent, and a
 * record of nothing else as a blank line. A record is numbered by the line it ends on.
 */
export async function* csvLines(blocks: AsyncIterable<TextLine[]>): AsyncGenerator<NumberedLine> {
  const badLines: number[] = []
  const parser = parse({ info: true, relax_column_count: true, skip_empty_lines: true })
  // An error of the input reaches the loop below through the parser.
  pipeline(Readable.from(csvText(blocks, badLines), { objectMode: false }), parser, () => {})
  let header: string[] | null = null
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvRecord>) {
      for (const number of badLines.splice(0)) yield { number, complaint: 'is not UTF-8' }
      const number = info.lines
      if (header === null) {
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

function parseRecord(header: string[], record: string[]): ReturnType<typeof parseMembers> {
  if (record.length !== header.length)
    return { complaint: `has ${record.length} cells where the header has ${header.length}` }
  return parseMembers(
    record.map((cell, index) => [memberOfColumn(header[index] ?? '') ?? '', cell || null]),
  )
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
