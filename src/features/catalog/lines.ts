import { CATALOG_MEMBERS, CatalogLineSchema } from '../../schemas/catalog-line.ts'
import type { CatalogLine } from '../../schemas/catalog-line.ts'
import { faultOf } from '../../schemas/check.ts'

/** A line, or a clause that says what is wrong with it. */
export type ParsedLine = { line: CatalogLine } | { complaint: string }

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

export function parseCells(
  cells: readonly (readonly [column: string, value: unknown])[],
): ParsedLine {
  return parseLine(
    Object.fromEntries(cells.map(([column, value]) => [memberOfColumn(column) ?? column, value])),
  )
}

/** An ID keeps every character, including spaces and quotes. */
function parseLine(value: object): ParsedLine {
  const parsed = CatalogLineSchema.safeParse(value)
  if (parsed.success) return { line: parsed.data }
  const isUnknown = parsed.error.issues[0]?.code === 'unrecognized_keys'
  return { complaint: `is wrong: ${faultOf(parsed.error, '')}${isUnknown ? ` (${KNOWN})` : ''}` }
}

/** The catalog's name for a column in camel case, snake case or lower case (an unquoted name in PostgreSQL); null if unknown. */
export function memberOfColumn(column: string): keyof CatalogLine | null {
  const folded = column.trim().replaceAll('_', '').toLowerCase()
  return CATALOG_MEMBERS.find((member) => member.toLowerCase() === folded) ?? null
}

/** What is wrong with a header, or null. */
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

/** Numbers begin at 1. */
export type NumberedLine = ParsedLine & { readonly number: number }

export interface CatalogSource {
  /** For messages, such as the file's path. */
  readonly name: string
  /** What the numbers count. */
  readonly unit: 'line' | 'row'
  /**
   * Reads the lines lazily, without blank lines. Invalid lines are complaints.
   * @throws UsageError or EnvironmentError if the source cannot be read
   */
  lines(): AsyncIterable<NumberedLine>
}

/** A source of lines in memory. */
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
