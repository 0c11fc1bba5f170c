import { randomInt } from 'node:crypto'
import picocolors from 'picocolors'
import type { Facts, Tone, Value } from '../schemas/columns.ts'
import { ago, count, scopePath, shortId, time } from '../schemas/format.ts'
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

const TONE_PAINT: Readonly<Record<Tone, (text: string) => string>> = {
  good: paint.green,
  warn: paint.yellow,
  bad: paint.red,
  info: paint.cyan,
  idle: paint.magenta,
}

/** A text in the colour of a state. */
export function painted({ tone, text }: { tone: Tone; text: string }): string {
  return TONE_PAINT[tone](text)
}

/** A value as text. @param cut shortens a text */
export function textOf(value: Value, cut: (text: string) => string = (text) => text): string {
  const show = (part: Value) => textOf(part, cut)
  if (value === null) return ''
  if (typeof value === 'string') return cut(value)
  if (typeof value === 'number') return count(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (value instanceof Date) return time(value)
  if ('words' in value) return value.words.map(show).join(' ')
  if ('list' in value) return cut(value.list.map((part) => textOf(part)).join(', '))
  if ('runId' in value) return value.text ?? shortId(value.runId)
  if ('path' in value) return value.text
  if ('ids' in value) return cut(value.text ?? scopePath(value.ids))
  if ('tone' in value)
    return painted({ text: 'text' in value ? value.text : count(value.count), tone: value.tone })
  if ('ago' in value) return ago(value.ago)
  if ('code' in value) return value.code
  if ('quote' in value) return cut(value.quote)
  if ('record' in value) return cut(value.record)
  return [value.value, value.note].map(show).filter(Boolean).join('\n')
}

/** Facts as lines with aligned names: ` name   fact`. */
export function facts(pairs: Facts): string {
  const known = pairs.filter(([, value]) => value !== null)
  const width = Math.max(...known.map(([name]) => name.length))
  return known
    .map(([name, fact]) =>
      `  ${paint.dim(name.padEnd(width))}  ${harmless(textOf(fact))}`.trimEnd(),
    )
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
