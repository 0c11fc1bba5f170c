import { randomInt } from 'node:crypto'
import picocolors from 'picocolors'
import { printable } from '../base/printable.ts'

const colors = picocolors.createColors(process.stdout.isTTY === true && picocolors.isColorSupported)

/** A number that no text of others can know: it tells our own colours from theirs until they are printed. */
const MARK = randomInt(2 ** 40)
const OWN_COLOR = new RegExp(`(\u001b\\[\\d+);${MARK}m`, 'g')

/** Colours of stdout; none where it is no terminal, or NO_COLOR is set. */
export const paint = {
  bold: marked(colors.bold),
  dim: marked(colors.dim),
  red: marked(colors.red),
  green: marked(colors.green),
  yellow: marked(colors.yellow),
  cyan: marked(colors.cyan),
  magenta: marked(colors.magenta),
}

/** What a command prints for a person: one or more lines on stdout. */
export function print(text = ''): void {
  process.stdout.write(shown(text))
}

/** What a command has to say beside its result: a line on stderr. */
export function note(text: string): void {
  process.stderr.write(shown(text))
}

/** Notes how far something is, now and then. @param describe is called with what the returned function is called with */
export function progressNotes<Seen extends unknown[]>(
  describe: (...seen: Seen) => string,
  everyMs = 2000,
): (...seen: Seen) => void {
  let notedAtMs = performance.now()
  return (...seen) => {
    if (performance.now() - notedAtMs < everyMs) return
    notedAtMs = performance.now()
    note(describe(...seen))
  }
}

/** Says that a run is stored although the queue did not accept its jobs. @param reason of the queue */
export function noteNotDelivered(reason: string): void {
  note(
    `The run is stored, but the queue does not accept jobs (${reason}). Workers take it up when the queue does.`,
  )
}

/** The one JSON document of a command with `--json`, on stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(`${printable(JSON.stringify(value, null, 2), '\n')}\n`)
}

/** Facts with their names in one column: ` name   fact`. */
export function facts(pairs: readonly (readonly [name: string, fact: string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs
    .map(([name, fact]) => `  ${paint.dim(name.padEnd(width))}  ${harmless(fact)}`.trimEnd())
    .join('\n')
}

/** A heading over a part of a page. */
export function heading(text: string): string {
  return `\n${paint.bold(text)}`
}

function marked(color: (text: string) => string): (text: string) => string {
  const [open = '', close = ''] = color('\0')
    .split('\0')
    .map((code) => code.replace(/m$/, `;${MARK}m`))
  return (text) => open + text + close
}

/** What is written: with our colours, and nothing else that steers a terminal. */
function shown(text: string): string {
  return `${harmless(text, '\n\t').replace(OWN_COLOR, '$1m')}\n`
}

/** Printable but for our own colours. */
export function harmless(text: string, kept = ''): string {
  const own = text.match(OWN_COLOR) ?? []
  const others = text.split(OWN_COLOR).filter((_part, place) => place % 2 === 0)
  return others.map((part, place) => printable(part, kept) + (own[place] ?? '')).join('')
}
