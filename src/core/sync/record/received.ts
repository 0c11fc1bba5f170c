import { stringify } from 'lossless-json'
import type { RejectedRecord } from '../../database/failures.ts'
import { RECORD_UNITS_MAX } from '../../../documents/check.ts'
import { CallError } from '../../../base/errors.ts'
import { valuesIn } from '../../../base/json-text.ts'
import type { ValueInText } from '../../../base/json-text.ts'
import { parseExact } from '../../../base/json.ts'
import type { Answer } from '../../service/answer.ts'

/** A record, or a member of one, that cannot be stored as received. */
export type Reject = Omit<RejectedRecord, 'scope' | 'digest'>

/** The records of one answer, with a way back to their exact text. */
export interface Received {
  readonly length: number
  /**
   * One item as it may be stored.
   * @throws RecordLimitError
   */
  itemAt(index: number): unknown
  /** The text of one item as received, numbers not rounded. */
  textOf(index: number): string
  /** The same where it may hold a number that a double cannot; null where `itemAt` has every digit. */
  exactTextOf(index: number): string | null
  /** One item as it came: for its key and the time of its writing; nothing else of it may be stored. */
  rawAt(index: number): unknown
}

/** A record is beyond one of our limits; the message says which. */
class RecordLimitError extends Error {
  override name = 'RecordLimitError'
}

/** Rejected records and members of one answer: with more of them nothing of it is to be relied on. */
export const REJECTS_MAX = 10_000

/** Their texts together, in UTF-16 units: each fault of a record keeps the record. */
const REJECTED_UNITS_MAX = 32_000_000

/** @throws CallError where so much of an answer is rejected that nothing of it is stored */
export function checkRejects(rejects: readonly Reject[], records: number): void {
  const units = rejects.reduce((sum, { record }) => sum + record.length, 0)
  if (rejects.length > REJECTS_MAX || units > REJECTED_UNITS_MAX) throw tooManyRejected(records)
}

/** @param records in the answer */
export function tooManyRejected(records: number): CallError {
  return new CallError(
    `Too many or too long records or members of an answer with ${records.toLocaleString('en')} records cannot be stored: nothing of it was stored.`,
    { kind: 'refused', httpStatus: 200, errorStatus: 'too_many_rejected' },
  )
}

/** Leaves out of a record what may not be stored; null where everything may be. */
export type Redact = ((item: unknown) => unknown) | null

/**
 * What an answer with data holds, for the record readers: nothing behind them sees what may not be stored.
 * @param onRead called with each item that is read, as it may be stored
 */
export function receivedOf(
  answer: Pick<Extract<Answer, { status: 'data' }>, 'data' | 'dataText'>,
  redact: Redact = null,
  onRead: ((item: unknown) => void) | null = null,
): Received {
  const { data, dataText } = answer
  let places: ValueInText[] | undefined
  const textOf = (index: number) => {
    places ??= valuesIn(dataText)
    const place = places[index]
    return place === undefined ? '' : dataText.slice(place.start, place.end).trim()
  }
  const keptTextOf = (index: number) => {
    const text = textOf(index)
    return redact === null ? text : redactText(text, redact)
  }
  let holdsLongNumber: boolean | undefined
  return {
    length: data.length,
    rawAt: (index) => data[index],
    itemAt(index) {
      // Shorter answers hold no longer record, and need no look at their text.
      if (dataText.length > RECORD_UNITS_MAX && textOf(index).length > RECORD_UNITS_MAX)
        throw new RecordLimitError(
          `the record is longer than ${RECORD_UNITS_MAX.toLocaleString('en')} characters`,
        )
      const item = redact === null ? data[index] : redact(data[index])
      onRead?.(item)
      return item
    },
    textOf: keptTextOf,
    exactTextOf(index) {
      // One look at the whole answer: most hold no such number.
      if (holdsLongNumber === undefined) {
        // Should that look fail, each record is looked at by itself: it must not cost all of them.
        holdsLongNumber = true
        holdsLongNumber = MAYBE_LONG_NUMBER.test(dataText) && LONG_NUMBER.test(dataText)
      }
      return holdsLongNumber && LONG_NUMBER.test(textOf(index)) ? keptTextOf(index) : null
    },
  }
}

/** A number of more digits than every double has, or of an exponent that may be beyond all of them; within a text it may be none. */
const LONG_NUMBER = /[[:,]\s*-?\d(?:[\d.]{15}|[\d.]*e[+-]?\d{3})/i

/** Matches wherever LONG_NUMBER does, in a quarter of its time: written out, V8 can skip parts of a text that hold none. */
const MAYBE_LONG_NUMBER = /[\d.]{3}[\d.]{3}[\d.]{2}[\d.]{8}|[\d.]e[+-]?\d{3}/i

/** A record that was received before, from its own JSON text. */
export function receivedBefore(text: string): Received {
  return receivedOf({ data: [JSON.parse(text)], dataText: `[${text}]` }, null)
}

/** The text of one member of an object's text, as received; of two with one name the last, as JSON.parse takes it. */
export function memberText(objectText: string, name: string): string {
  const place = valuesIn(objectText).findLast((value) => value.name === name)
  return place === undefined ? '' : objectText.slice(place.start, place.end).trim()
}

/** The text of a rejected item, however it was rejected; empty where even that cannot be had without what may not be stored. */
export function keptText(received: Received, index: number): string {
  try {
    return received.textOf(index).slice(0, RECORD_UNITS_MAX)
  } catch {
    return ''
  }
}

/** Why a record was rejected when reading or storing it failed; never with a value of the record. */
export function processingFault(error: unknown): string {
  if (error instanceof RecordLimitError) return error.message
  const { name, code, message } = error as { name?: string; code?: unknown; message?: string }
  if (typeof code !== 'string') return `could not be processed: ${name ?? 'an error'}`
  // What PostgreSQL says of its own limits names sizes and indexes, no values (Error Codes, class 54).
  const detail = code.startsWith('54') ? `, ${message}` : ''
  return `could not be processed: PostgreSQL refused it (${code}${detail})`
}

/** The text of a record, as its object is redacted; numbers keep every digit. */
export function redactText(text: string, redact: (item: unknown) => unknown): string {
  return stringify(redact(parseExact(text))) ?? ''
}
