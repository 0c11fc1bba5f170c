import { isUtf8 } from 'node:buffer'
import { UsageError } from '../errors.ts'

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
  const texts = isUtf8(bytes) ? bytes.toString().split('\n') : splitBytes(bytes).map(strictText)
  return texts.map((text, index) => {
    const number = first + index
    return { number, text: number === 1 && text !== null ? text.replace(/^\uFEFF/, '') : text }
  })
}

function splitBytes(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  let start = 0
  for (;;) {
    const end = bytes.indexOf(LINE_FEED, start)
    lines.push(bytes.subarray(start, end < 0 ? bytes.length : end))
    if (end < 0) return lines
    start = end + 1
  }
}

function strictText(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString() : null
}
