/**
 * What PostgreSQL can hold of an answer, and what we let it hold: limits that are looked at before it would refuse
 * (docs/FAILURES.md, Limits).
 */

/** Containers within each other in one record. Nobody nests deeper by intent; jsonb and our own recursion both have a limit of stack. */
export const NESTING_MAX = 100

/** PostgreSQL's numeric ends at 131,072 digits; nothing sensible is a tenth as long. Digits and exponent added up. */
export const NUMBER_MAGNITUDE_MAX = 1000

/** JSON text of one record, in UTF-16 units: as UTF-8 and as jsonb it stays far from the 256 MB that jsonb can hold. */
export const RECORD_UNITS_MAX = 16_000_000
