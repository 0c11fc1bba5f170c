import type { DataAnswer } from '../../src/core/sync/record/received.ts'
import { Records } from '../../src/core/sync/record/records.ts'
import type { ReadRecord, RecordReader } from '../../src/core/sync/record/records.ts'

/** A response with these items, as JSON text. */
export function answerOf(dataText: string): DataAnswer {
  const data = JSON.parse(dataText) as unknown[]
  return { status: 'data', digest: Buffer.alloc(16), data, dataText, paged: false }
}

/** Reads the items of a response, all of which may be stored unless `redact` says otherwise. */
export function readItems<Id extends string | number, R extends ReadRecord>(
  reader: RecordReader<Id, R>,
  answer: DataAnswer,
  keepsTexts = false,
  redact: ((item: unknown) => unknown) | null = null,
): Records<Id, R> {
  const rules = {
    writtenPath: null,
    redact: () => redact && { users: redact, comments: redact, text: <T>(text: T) => text },
  }
  const records = new Records(reader, 'o', { rules, keepsTexts })
  records.addAll(answer)
  return records
}
