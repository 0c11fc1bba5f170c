import { randomInt } from 'node:crypto'
import picocolors from 'picocolors'
import { printable } from '../base/printable.ts'

const colors = picocolors.createColors(process.stdout.isTTY === true && picocolors.isColorSupported)

/** A secret number: it distinguishes our own colour codes from codes in foreign texts until they are printed. */
const MARK = randomInt(2 ** 40)
const OWN_COLOR = new RegExp(`(\u001b\\[\\d+);${MARK}m`, 'g')

/** Colours of stdout; none if it is no terminal or NO_COLOR is set. */
export const paint = {
  bold: marked(colors.bold),
  dim: marked(colors.dim),
  red: marked(colors.red),
  green: marked(colors.green),
  yellow: marked(colors.yellow),
  cyan: marked(colors.cyan),
  magenta: marked(colors.magenta),
}

/** Prints lines on stdout. */
export function print(text = ''): void {
  process.stdout.write(shown(text))
}

/** Prints a line on stderr. */
export function note(text: string): void {
  process.stderr.write(shown(text))
}

/** Notes the progress periodically. @param describe receives the arguments of the returned function */
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

/** Notes that a run is stored although the queue did not accept its jobs. @param reason of the queue */
export function noteNotDelivered(reason: string): void {
  note(
    `The run is stored, but the queue does not accept jobs (${reason}). Workers enqueue them later.`,
  )
}

/** Prints the JSON document of a command with `--json` on stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(`${printable(JSON.stringify(value, null, 2), '\n')}\n`)
}

/** Facts as lines with aligned names: ` name   fact`. */
export function facts(pairs: readonly (readonly [name: string, fact: string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs
    .map(([name, fact]) => `  ${paint.dim(name.padEnd(width))}  ${harmless(fact)}`.trimEnd())
    .join('\n')
}

/** A heading of a section. */
export function heading(text: string): string {
  return `\n${paint.bold(text)}`
}

function marked(color: (text: string) => string): (text: string) => string {
  const [open = '', close = ''] = color('\0')
    .split('\0')
    .map((code) => code.replace(/m$/, `;${MARK}m`))
  return (text) => open + text + close
}

function shown(text: string): string {
  return `${harmless(text, '\n\t').replace(OWN_COLOR, '$1m')}\n`
}

/** Escapes everything that controls a terminal, except our own colours. */
export function harmless(text: string, kept = ''): string {
  const own = text.match(OWN_COLOR) ?? []
  const others = text.split(OWN_COLOR).filter((_part, place) => place % 2 === 0)
  return others.map((part, place) => printable(part, kept) + (own[place] ?? '')).join('')
}
