import type { CatalogLine } from './lines.ts'

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
