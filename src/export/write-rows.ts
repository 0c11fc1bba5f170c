import type { Readable, Writable } from 'node:stream'
import { once } from 'node:events'

/** A format that is written row by row. */
export interface RowFormat {
  /** What comes before the first row. */
  readonly head: string
  /** One row; values are PostgreSQL's texts. */
  row(values: readonly (string | null)[]): string
}

/** Hears how many rows are written so far. */
export type OnRows = (rows: number) => void

/** Characters that are gathered before they are written: a write for every row would take most of the time. */
const CHUNK_CHARACTERS = 64 * 1024

/** Writes rows as text, no faster than `out` takes them. @returns how many */
export async function writeText(
  rows: Readable,
  out: Writable,
  format: RowFormat,
  onRows: OnRows,
): Promise<number> {
  let count = 0
  let chunk = format.head
  for await (const values of rows as AsyncIterable<(string | null)[]>) {
    chunk += format.row(values)
    count += 1
    if (chunk.length < CHUNK_CHARACTERS) continue
    await writeAll(out, chunk)
    chunk = ''
    onRows(count)
  }
  await writeAll(out, chunk)
  return count
}

/** Writes, and waits where the reader is slower. @throws what goes wrong with `out`, such as EPIPE */
export async function writeAll(out: Writable, chunk: string | Uint8Array): Promise<void> {
  if (out.errored) throw out.errored
  if (!out.write(chunk)) await once(out, 'drain')
}
