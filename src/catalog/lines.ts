import { ID_BYTES_MAX, isTooLongId } from '../database/storable.ts'

/**
 * One thing to sync, in the words of `contract.md` ("Catalog lines"): an organization, or a document,
 * an annotation or a user group in it. It implies its parents.
 */
export interface CatalogLine {
  organizationId: string
  documentId?: string
  annotationId?: string
  organizationUserGroupId?: string
}

/** A line, or one clause on what is wrong with it. */
export type ParsedLine = { line: CatalogLine } | { complaint: string }

export type CatalogMember = keyof CatalogLine

/** Reads one line of NDJSON. A member that is null counts as absent; an empty string is a fault. */
export function parseJsonLine(text: string): ParsedLine {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { complaint: `is not JSON (${(error as Error).message})` }
  }
  if (Array.isArray(value)) return { complaint: 'is an array: write one object a line' }
  if (typeof value !== 'object' || value === null) return { complaint: 'is not an object' }
  return parseMembers(Object.entries(value))
}

/**
 * Reads the members of one line, by the catalog's names. Null and undefined count as absent.
 * An id keeps every character, spaces and quotes too.
 */
export function parseMembers(entries: Iterable<readonly [string, unknown]>): ParsedLine {
  const line: Partial<CatalogLine> = {}
  for (const [name, value] of entries) {
    const member = MEMBERS.find((known) => known === name)
    if (member === undefined)
      return { complaint: `has an unknown member ${JSON.stringify(name)} (${KNOWN})` }
    if (value === null || value === undefined) continue
    if (typeof value !== 'string')
      return { complaint: `has a ${member} that is ${kindOf(value)}, not a string` }
    const fault = idFault(value)
    if (fault !== null) return { complaint: `has a ${member} that ${fault}` }
    line[member] = value
  }
  const fault = combinationFault(line)
  return fault === null ? { line: line as CatalogLine } : { complaint: fault }
}

/**
 * The catalog's name for a column, written as the catalog does, in snake case, or in lower case (to
 * which PostgreSQL folds an unquoted name); null for any other column.
 */
export function memberOfColumn(column: string): CatalogMember | null {
  const folded = column.trim().replaceAll('_', '').toLowerCase()
  return MEMBERS.find((member) => member.toLowerCase() === folded) ?? null
}

/**
 * What is wrong with a header, or null.
 * @param columns as the source names them
 */
export function columnsFault(columns: readonly string[]): string | null {
  const members = columns.map(memberOfColumn)
  const unknown = members.indexOf(null)
  if (unknown >= 0)
    return `has an unknown column ${JSON.stringify(columns[unknown]?.slice(0, 100))} (${KNOWN})`
  const twice = members.find((member, index) => members.indexOf(member) !== index)
  if (twice) return `has the column ${twice} twice`
  return members.includes('organizationId') ? null : 'has no column organizationId'
}

const MEMBERS: readonly CatalogMember[] = [
  'organizationId',
  'documentId',
  'annotationId',
  'organizationUserGroupId',
]
const KNOWN = `known are ${MEMBERS.join(', ')}`

function idFault(id: string): string | null {
  if (id === '') return 'is empty'
  if (id.includes('\0')) return 'holds a NUL character'
  if (/\p{Surrogate}/u.test(id)) return 'holds half of a surrogate pair, which is no character'
  if (isTooLongId(id)) return `is longer than ${ID_BYTES_MAX} bytes`
  return null
}

function combinationFault(line: Partial<CatalogLine>): string | null {
  if (line.organizationId === undefined) return 'has no organizationId'
  if (line.annotationId !== undefined && line.documentId === undefined)
    return 'has an annotationId but no documentId'
  if (line.organizationUserGroupId !== undefined && line.documentId !== undefined)
    return 'has both an organizationUserGroupId and a documentId: a user group belongs to an organization'
  return null
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** One line of a source, or what is wrong with it, with its number from 1. */
export type NumberedLine =
  { number: number; line: CatalogLine } | { number: number; complaint: string }

/** Where catalog lines come from. A new kind of source needs nothing but this. */
export interface CatalogSource {
  /** For messages, such as the file's path. */
  readonly name: string
  /** What its numbers count. */
  readonly unit: 'line' | 'row'
  /**
   * Its lines in order, each read when it is asked for; blank ones are left out. Wrong lines come as
   * complaints; a source that cannot be read at all throws a UsageError or EnvironmentError.
   */
  lines(): AsyncIterable<NumberedLine>
}
