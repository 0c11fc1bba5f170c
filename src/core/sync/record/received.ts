import { stringify } from 'lossless-json'
import type { RejectedRecord } from '../../database/failures.ts'
import { RECORD_UNITS_MAX } from '../../../schemas/check.ts'
import { CallError } from '../../../base/errors.ts'
import { valuesIn } from '../../../base/json-text.ts'
import type { ValueInText } from '../../../base/json-text.ts'
import { parseExact } from '../../../base/json.ts'
import type { ServiceResponse } from '../../service/response.ts'

/** A response with records. */
export type DataResponse = Extract<ServiceResponse, { status: 'data' }>

/** A record, or a member of one, that cannot be stored as received. */
export type Reject = Omit<RejectedRecord, 'scope' | 'digest'>

/** Leaves out of a record what may not be stored; null where everything may be. */
export type RedactItem = ((item: unknown) => unknown) | null

/**
 * The items of one response, read one after the other. It is shared by all functions that read a record, so that none of them
 * needs a closure for each record. Only `raw` gives what may not be stored.
 */
export class Received {
  readonly length: number
  /** The item that is read now. */
  index = 0
  readonly #data: readonly unknown[]
  readonly #dataText: string
  readonly #redact: RedactItem
  readonly #asStored: RedactItem
  readonly #rejects: Reject[]
  #texts: readonly ValueInText[] | null = null
  #holdsLongNumber: boolean | null = null

  /**
   * @param rejects gets what cannot be stored as received
   * @param asStored as `redact`, and leaves out the fields of `PRIVACY_EXCLUDE` too
   */
  constructor(
    { data, dataText }: Pick<DataResponse, 'data' | 'dataText'>,
    redact: RedactItem = null,
    rejects: Reject[] = [],
    asStored = redact,
  ) {
    this.length = data.length
    this.#data = data
    this.#dataText = dataText
    this.#redact = redact
    this.#asStored = asStored
    this.#rejects = rejects
  }

  /** The item as received: for its key and the time of its writing; nothing else of it may be stored. */
  get raw(): unknown {
    return this.#data[this.index]
  }

  /**
   * The item as it may be stored, with the fields of `PRIVACY_EXCLUDE`.
   * @throws RecordLimitError
   */
  read(): unknown {
    // Of a response that is shorter, no text is cut out.
    const isLong = this.#dataText.length > RECORD_UNITS_MAX
    if (isLong && this.#receivedText(this.index).length > RECORD_UNITS_MAX)
      throw new RecordLimitError(
        `the record is longer than ${RECORD_UNITS_MAX.toLocaleString('en')} characters`,
      )
    return this.#redact === null ? this.raw : this.#redact(this.raw)
  }

  /** The JSON text of an item as it may be stored, with every digit of its numbers. */
  text(index = this.index): string {
    const text = this.#receivedText(index)
    return this.#asStored === null ? text : redactText(text, this.#asStored)
  }

  /** The text where it may hold a number that a double cannot; null where `read` gives every digit. */
  exactText(): string | null {
    if (this.#holdsLongNumber === null) {
      // If the search through the whole response fails, each record is searched by itself.
      this.#holdsLongNumber = true
      this.#holdsLongNumber =
        MAYBE_LONG_NUMBER.test(this.#dataText) && LONG_NUMBER.test(this.#dataText)
    }
    if (!this.#holdsLongNumber || !LONG_NUMBER.test(this.#receivedText(this.index))) return null
    return this.text()
  }

  /** Notes a reject. Its record is empty where the text cannot be had without what may not be stored. */
  reject(reason: string, isWhole = false, index = this.index): void {
    let record = ''
    try {
      record = this.text(index).slice(0, RECORD_UNITS_MAX)
    } catch {}
    this.#rejects.push({ reason, record, isWhole })
  }

  #receivedText(index: number): string {
    this.#texts ??= valuesIn(this.#dataText)
    const value = this.#texts[index]
    return value === undefined ? '' : this.#dataText.slice(value.start, value.end).trim()
  }
}

/** A number of more digits than every double has, or of an exponent that may be beyond all of them; within a text it may be none. */
const LONG_NUMBER = /[[:,]\s*-?\d(?:[\d.]{15}|[\d.]*e[+-]?\d{3})/i

/**
 * Matches wherever LONG_NUMBER does, and faster: written out, V8 can skip parts of a text that hold none
 * (docs/decisions/2026-11-29-cpu-of-a-call.md).
 */
const MAYBE_LONG_NUMBER = /[\d.]{3}[\d.]{3}[\d.]{2}[\d.]{8}|[\d.]e[+-]?\d{3}/i

/** The text of a record, as its object is redacted; numbers keep every digit. */
export function redactText(text: string, redact: (item: unknown) => unknown): string {
  return stringify(redact(parseExact(text))) ?? ''
}

/** Rejected records and members of one response: with more of them nothing of it is stored. */
export const REJECTS_MAX = 10_000

/** Their texts together, in UTF-16 units: each fault of a record keeps the record. */
const REJECTED_UNITS_MAX = 32_000_000

/**
 * @param records in the response
 * @throws CallError where so much of a response is rejected that nothing of it is stored
 */
export function checkRejects(rejects: readonly Reject[], records: number): void {
  const units = rejects.reduce((sum, { record }) => sum + record.length, 0)
  if (rejects.length > REJECTS_MAX || units > REJECTED_UNITS_MAX) throw tooManyRejected(records)
}

/** @param records in the response */
export function tooManyRejected(records: number): CallError {
  return new CallError(
    `Too many or too long records or members of a response with ${records.toLocaleString('en')} records cannot be stored: nothing of it was stored.`,
    { kind: 'refused', httpStatus: 200, errorStatus: 'too_many_rejected' },
  )
}

/** A record is beyond one of our limits; the message says which. */
class RecordLimitError extends Error {
  override name = 'RecordLimitError'
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
