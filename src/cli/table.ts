import CliTable from 'cli-table3'
import { harmless, paint } from './output.ts'

/** A column, or the heading of a column of texts. */
export type Column = string | StyledColumn

interface StyledColumn {
  readonly head: string
  readonly align?: 'left' | 'right'
  /** In characters; longer cells are wrapped between words. If omitted, the width of the longest cell. */
  readonly width?: number
}

/** A table without rules, with two spaces between its columns. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const styled = columns.map((column): StyledColumn =>
    typeof column === 'string' ? { head: column } : column,
  )
  const built = new CliTable({
    head: styled.map(({ head }) => paint.dim(head)),
    colWidths: styled.map(({ width }) => width ?? null),
    wordWrap: true,
    colAligns: styled.map(({ align }) => align ?? 'left'),
    chars: NO_RULES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  built.push(...rows.map((row) => row.map((cell) => harmless(cell))))
  return indent(built.toString())
}

/** Columns of numbers. */
export function numberColumns(...heads: string[]): Column[] {
  return heads.map((head) => ({ head, align: 'right' }))
}

const NO_RULES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`.trimEnd())
    .join('\n')
}
