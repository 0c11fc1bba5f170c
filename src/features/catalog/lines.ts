import { CATALOG_MEMBERS, CatalogLineSchema } from '../../documents/catalog-line.ts'
import type { CatalogLine } from '../../documents/catalog-line.ts'
import { faultOf } from '../../documents/check.ts'

/** A line, or one clause on what is wrong with it. */
export type ParsedLine = { line: CatalogLine } | { complaint: string }

export type CatalogMember = keyof CatalogLine

/** Reads one line of NDJSON. */
export function parseJsonLine(text: string): ParsedLine {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { complaint: `is not JSON (${(error as Error).message})` }
  }
  if (Array.isArray(value)) return { complaint: 'is an array: write one object a line' }
  if (typeof value !== 'object' || value === null) return { complaint: 'is not an object' }
  return parseLine(value)
}

/** Checks the cells of one row, by the names of their columns. */
export function parseCells(
  cells: readonly (readonly [column: string, value: unknown])[],
): ParsedLine {
  return parseLine(
    Object.fromEntries(cells.map(([column, value]) => [memberOfColumn(column) ?? column, value])),
  )
}

/** Checks one line. An id keeps every character, spaces and quotes too. */
function parseLine(value: object): ParsedLine {
  const parsed = CatalogLineSchema.safeParse(value)
  if (parsed.success) return { line: parsed.data }
  const isUnknown = parsed.error.issues[0]?.code === 'unrecognized_keys'
  return { complaint: `is wrong: ${faultOf(parsed.error, '')}${isUnknown ? ` (${KNOWN})` : ''}` }
}

/**
 * The catalog's name for a column, written as the catalog does, in snake case, or in lower case (to
 * which PostgreSQL folds an unquoted name); null for any other column.
 */
export function memberOfColumn(column: string): CatalogMember | null {
  const folded = column.trim().replaceAll('_', '').toLowerCase()
  return CATALOG_MEMBERS.find((member) => member.toLowerCase() === folded) ?? null
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

const KNOWN = `known are ${CATALOG_MEMBERS.join(', ')}`

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

/** Lines that are there already, numbered from 1. */
export function listSource(name: string, lines: Iterable<CatalogLine>): CatalogSource {
  return {
    name,
    unit: 'line',
    async *lines() {
      let number = 0
      for (const line of lines) yield { number: (number += 1), line }
    },
  }
}
