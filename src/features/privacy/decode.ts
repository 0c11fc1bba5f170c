/** A text with some encodings undone. */
export interface DecodedText {
  readonly text: string
  /** The part of the original that characters `from` to `to` of the text were written as. */
  range(from: number, to: number): readonly [from: number, to: number]
}

/** Encoded more often than this, nothing that reads a link or a page shows it any more. */
const LAYERS_MAX = 5

/** Percent-encoded UTF-8, references of HTML, escapes of JSON, and a NUL, which is not stored. */
const ENCODED =
  /%(?:[0-7][\da-f]|[cd][\da-f]%[89ab][\da-f]|e[\da-f](?:%[89ab][\da-f]){2}|f[0-7](?:%[89ab][\da-f]){3})|&#x0*([\da-f]{1,6});?|&#0*(\d{1,7});?|&([a-z]{2,8});|\\u([\da-f]{4})|\\(["\\/bfnrt])|\0/gi

/** Those of HTML's named characters that are ASCII: what an address or an id is made of, and what stands around it. */
const NAMED = new Map(
  'Tab:\t NewLine:\n nbsp:\u00a0 excl:! quot:" num:# dollar:$ percnt:% amp:& apos:\' lpar:( rpar:) ast:* midast:* plus:+ comma:, period:. sol:/ colon:: semi:; lt:< equals:= gt:> quest:? commat:@ lsqb:[ lbrack:[ bsol:\\ rsqb:] rbrack:] Hat:^ lowbar:_ UnderBar:_ grave:` lcub:{ lbrace:{ verbar:| vert:| rcub:} rbrace:} hyphen:- dash:-'
    .split(' ')
    .map((pair) => {
      const at = pair.indexOf(':')
      return [pair.slice(0, at).toLowerCase(), pair.slice(at + 1)]
    }),
)
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** The text as it is, then with one layer of encoding undone after the other, until none is left. */
export function* layersOf(text: string): Generator<DecodedText> {
  let layer: DecodedText = { text, range: (from, to) => [from, to] }
  yield layer
  for (let layers = 0; layers < LAYERS_MAX; layers += 1) {
    const next = undo(layer)
    if (next === null) return
    layer = next
    yield layer
  }
}

/** The text without any encoding. */
export function decoded(text: string): string {
  let last = text
  for (const layer of layersOf(text)) last = layer.text
  return last
}

function undo(layer: DecodedText): DecodedText | null {
  if (!/[%&\\\0]/.test(layer.text)) return null
  let text = ''
  const starts: number[] = []
  const add = (piece: string, start: number, step: 0 | 1) => {
    for (let unit = 0; unit < piece.length; unit += 1) starts.push(start + unit * step)
    text += piece
  }
  let end = 0
  for (const match of layer.text.matchAll(ENCODED)) {
    const character = characterOf(match)
    if (character === null) continue
    add(layer.text.slice(end, match.index), end, 1)
    add(character, match.index, 0)
    end = match.index + match[0].length
  }
  if (end === 0) return null
  add(layer.text.slice(end), end, 1)
  starts.push(layer.text.length)
  return {
    text,
    range: (from, to) => layer.range(starts[from] as number, starts[to] as number),
  }
}

function characterOf([all, hex, decimal, name, unit, escape]: RegExpMatchArray): string | null {
  if (all === '\0') return ''
  if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16))
  if (escape !== undefined) return ESCAPES[escape.toLowerCase()] ?? escape
  if (name !== undefined) return NAMED.get(name.toLowerCase()) ?? null
  if (hex === undefined && decimal === undefined) {
    const character = Buffer.from((all as string).replaceAll('%', ''), 'hex').toString('utf8')
    return character.includes('\ufffd') ? null : character
  }
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : null
}
