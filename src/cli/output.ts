import CliTable from 'cli-table3'
import picocolors from 'picocolors'

/** Colours of stdout; none where it is no terminal, or NO_COLOR is set. */
export const paint = picocolors.createColors(
  process.stdout.isTTY === true && picocolors.isColorSupported,
)

/** What a command prints for a person: one or more lines on stdout. */
export function print(text = ''): void {
  process.stdout.write(`${harmless(text)}\n`)
}

/** What a command has to say beside its result: a line on stderr. */
export function note(text: string): void {
  process.stderr.write(`${harmless(text)}\n`)
}

/** The one JSON document of a command with `--json`, on stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

/** A column of a table: its heading, and `right` for numbers. */
export interface Column {
  readonly head: string
  readonly align?: 'left' | 'right'
}

/** A table without rules, two spaces between its columns; no table at all where there are no rows. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const built = new CliTable({
    head: columns.map(({ head }) => paint.dim(head)),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    chars: NO_RULES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  built.push(...rows.map((row) => row.map((cell) => harmless(cell).replace(/[\n\r\t]+/g, ' '))))
  return indent(built.toString())
}

/** Facts with their names in one column: ` name   fact`. */
export function facts(pairs: readonly (readonly [name: string, fact: string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs
    .map(([name, fact]) => `  ${paint.dim(name.padEnd(width))}  ${fact}`.trimEnd())
    .join('\n')
}

/** A heading over a part of a page. */
export function heading(text: string): string {
  return `\n${paint.bold(text)}`
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

/** Ids and texts of the service must not steer the terminal: only colours pass, other control characters do not. */
function harmless(text: string): string {
  return text.replace(/\p{Cc}(\[[\d;]*m)?/gu, (found, colour?: string) => {
    const isColour = found.startsWith('\u001b') && colour !== undefined
    return isColour || found === '\n' || found === '\t' ? found : `\u{FFFD}${colour ?? ''}`
  })
}
