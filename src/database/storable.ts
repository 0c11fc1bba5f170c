/**
 * What PostgreSQL can hold of an answer, and what we let it hold: limits that are looked at before it would refuse
 * (docs/FAILURES.md, Limits).
 */

/** An entry of a B-tree index holds a third of a page, 2,704 bytes; the rest is for its other columns. In UTF-8. */
export const ID_BYTES_MAX = 2000

/** Containers within each other in one record. Nobody nests deeper by intent; jsonb and our own recursion both have a limit of stack. */
export const NESTING_MAX = 100

/** PostgreSQL's numeric ends at 131,072 digits; nothing sensible is a tenth as long. Digits and exponent added up. */
export const NUMBER_MAGNITUDE_MAX = 1000

/** JSON text of one record, in UTF-16 units: as UTF-8 and as jsonb it stays far from the 256 MB that jsonb can hold. */
export const RECORD_UNITS_MAX = 16_000_000

/** PostgreSQL's text and jsonb can hold neither a NUL nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** Whether an id is longer than a key may be. */
export function isTooLongId(id: string): boolean {
  // Every UTF-16 unit takes at most three bytes.
  return id.length * 3 > ID_BYTES_MAX && Buffer.byteLength(id) > ID_BYTES_MAX
}
