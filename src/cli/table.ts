import CliTable from 'cli-table3'
import type { Columns } from '../schemas/columns.ts'
import { shorten } from '../schemas/format.ts'
import { harmless, paint, textOf } from './output.ts'

/** Longer than the messages of collab-sync. */
const WRAPPED_MAX = 600
const CELL_MAX = 60

/** A list as a table without rules, with two spaces between its columns. */
export function table<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  const built = new CliTable({
    head: columns.map(([head]) => paint.dim(head)),
    colWidths: columns.map(([, , kind, most = CELL_MAX]) => (kind === 'wrapped' ? most : null)),
    wordWrap: true,
    colAligns: columns.map(([, , kind]) => (kind === 'number' ? 'right' : 'left')),
    chars: NO_RULES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  built.push(
    ...rows.map((row) =>
      columns.map(([, cell, kind, most = CELL_MAX]) => {
        const cut = (text: string) => shorten(text, kind === 'wrapped' ? WRAPPED_MAX : most)
        return harmless(textOf(cell(row), cut), '\n')
      }),
    ),
  )
  return built.toString().replaceAll(/^.*$/gm, (line) => `  ${line}`.trimEnd())
}

/** The names of cli-table3 for the lines of a table. */
const RULES =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid'
const NO_RULES = {
  ...Object.fromEntries(RULES.split(' ').map((rule) => [rule, ''])),
  middle: '  ',
}
