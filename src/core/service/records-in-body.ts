import { hash } from 'node:crypto'

/**
 * A digest of a body that does not depend on the order of its records. The body is not parsed for it, but cut:
 * `[{"commentId":…},{"commentId":…}]` at each `},{"commentId":`, whatever the first member is called. Two bodies with the same
 * digest have the same text before and after their records, and the same pieces between: where `parseRecords` finds that each
 * piece of one of them is a whole record, the other one has the same records.
 * @returns 32 bytes as Latin-1; null where there are fewer than two records, or so many that their digests would take much
 *   memory, and where the first record does not begin with a member of a short name
 */
export function digestInAnyOrder(body: Buffer): string | null {
  const start = body.indexOf('[')
  const end = body.lastIndexOf(']')
  const first = body.toString('latin1', start + 1, start + 1 + FIRST_MEMBER_UNITS_MAX)
  const sum = (from: number, to?: number) => hash('sha256', body.subarray(from, to), 'binary')
  const records = cut(body, { first, start, end }, sum)
  if (records === null) return null
  const sums = [sum(0, start + 1), sum(end), ...records.sort()]
  return hash('sha256', Buffer.from(sums.join(''), 'latin1'), 'binary')
}

/** A digest of a record is kept for each until all are sorted. */
const RECORDS_MAX = 100_000

/** Longer names of a first member are not looked for. */
const FIRST_MEMBER_UNITS_MAX = 100

/**
 * @param array its brackets, and how its text begins behind the first
 * @param read makes a record of what is from one place up to another
 */
function cut<T>(
  body: Buffer | string,
  { first, start, end }: { first: string; start: number; end: number },
  read: (from: number, to: number) => T,
): T[] | null {
  const beginning = /^\{"[ -~]*?":/.exec(first)?.[0]
  if (beginning === undefined || start < 0) return null
  const boundary = `},${beginning}`
  const records: T[] = []
  let from = start + 1
  for (let at = body.indexOf(boundary, from); at >= 0; at = body.indexOf(boundary, from)) {
    if (at >= end || records.length === RECORDS_MAX) return null
    records.push(read(from, at + 1))
    from = at + 2
  }
  if (records.length === 0) return null
  records.push(read(from, end))
  return records
}

/**
 * Parses each record of an array by itself, cut as `digestInAnyOrder` cuts the bytes.
 * @param arrayText from the first to the last bracket of the body
 * @returns null where that cuts nothing, or a piece is no whole record
 */
export function parseRecords(arrayText: string): unknown[] | null {
  const first = arrayText.slice(1, 1 + FIRST_MEMBER_UNITS_MAX)
  const array = { first, start: 0, end: arrayText.length - 1 }
  try {
    return cut(arrayText, array, (from, to) => JSON.parse(arrayText.slice(from, to)) as unknown)
  } catch {
    return null
  }
}
