/**
 * Reads JSON as it is written: numbers keep their text, each value has its position, and objects list duplicate names.
 * Part of the model: it imports nothing of `src` and no library.
 */
export type Json =
  | { readonly kind: 'null' | 'true' | 'false'; readonly start: number; readonly end: number }
  | { readonly kind: 'number'; readonly text: string; readonly start: number; readonly end: number }
  | { readonly kind: 'string'; readonly text: string; readonly start: number; readonly end: number }
  | JsonArray
  | JsonObject

export interface JsonArray {
  readonly kind: 'array'
  readonly items: Json[]
  readonly start: number
  end: number
}

export interface JsonObject {
  readonly kind: 'object'
  /** Of duplicate names the last value, as in `JSON.parse`. */
  readonly members: Map<string, Json>
  /** Duplicate names. */
  readonly twice: Set<string>
  readonly start: number
  end: number
}

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const SPACE = /[ \t\n\r]*/y

/** Reads a text that `JSON.parse` accepts, without recursion, so that the depth is unlimited. Null if it is not JSON. */
export function readJson(text: string): Json | null {
  try {
    JSON.parse(text)
  } catch {
    return null
  }
  return readValid(text)
}

function readValid(text: string): Json {
  const open: (JsonArray | JsonObject)[] = []
  let name = ''
  const names: string[] = []
  let at = 0
  for (;;) {
    at = skip(text, at)
    const container = open.at(-1)
    const next = text[at]
    if (next === ',') {
      at += 1
      continue
    }
    let value: Json
    if (next === ']' || next === '}') {
      open.pop()
      name = names.pop() as string
      const closed = container as JsonArray | JsonObject
      closed.end = ++at
      value = closed
    } else {
      if (container?.kind === 'object') {
        const end = endOfString(text, at)
        name = JSON.parse(text.slice(at, end)) as string
        at = skip(text, skip(text, end) + 1)
      }
      const opened = opening(text[at], at)
      if (opened !== null) {
        open.push(opened)
        names.push(name)
        at += 1
        continue
      }
      value = scalar(text, at)
      at = value.end
    }
    const holder = open.at(-1)
    if (holder === undefined) return value
    if (holder.kind === 'array') holder.items.push(value)
    else {
      if (holder.members.has(name)) holder.twice.add(name)
      holder.members.set(name, value)
    }
  }
}

function opening(character: string | undefined, start: number): JsonArray | JsonObject | null {
  if (character === '[') return { kind: 'array', items: [], start, end: 0 }
  if (character !== '{') return null
  return { kind: 'object', members: new Map(), twice: new Set(), start, end: 0 }
}

function scalar(text: string, start: number): Json {
  switch (text[start]) {
    case 'n':
      return { kind: 'null', start, end: start + 4 }
    case 't':
      return { kind: 'true', start, end: start + 4 }
    case 'f':
      return { kind: 'false', start, end: start + 5 }
    case '"': {
      const end = endOfString(text, start)
      return { kind: 'string', text: JSON.parse(text.slice(start, end)) as string, start, end }
    }
    default: {
      NUMBER.lastIndex = start
      const number = NUMBER.exec(text)?.[0] as string
      return { kind: 'number', text: number, start, end: start + number.length }
    }
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  for (;;) {
    const quote = text.indexOf('"', at)
    const escape = text.indexOf('\\', at)
    if (escape === -1 || escape > quote) return quote + 1
    at = escape + 2
  }
}

function skip(text: string, at: number): number {
  SPACE.lastIndex = at
  SPACE.exec(text)
  return SPACE.lastIndex
}

/** Equal text for equal content: sorted names, numbers by value with all digits. For at most some hundred levels. */
export function canonical(value: Json): string {
  switch (value.kind) {
    case 'array':
      return `[${value.items.map(canonical).join(',')}]`
    case 'object':
      return `{${[...value.members.keys()]
        .sort()
        .map((name) => `${JSON.stringify(name)}:${canonical(value.members.get(name) as Json)}`)
        .join(',')}}`
    case 'string':
      return JSON.stringify(value.text)
    case 'number':
      return canonicalNumber(value.text)
    default:
      return value.kind
  }
}

function canonicalNumber(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  if (digits === '') return '0'
  const significant = digits.replace(/0+$/, '')
  const power = Number(exponent) - fraction.length + digits.length - significant.length
  return `${text.startsWith('-') ? '-' : ''}${significant}e${power}`
}
