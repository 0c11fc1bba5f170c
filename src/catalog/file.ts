import { createReadStream } from 'node:fs'
import { extname } from 'node:path'
import { UsageError } from '../errors.ts'
import { csvLines } from './csv.ts'
import { parseJsonLine } from './lines.ts'
import type { CatalogSource, NumberedLine } from './source.ts'
import { textLines } from './text-lines.ts'
import type { TextLine } from './text-lines.ts'

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
