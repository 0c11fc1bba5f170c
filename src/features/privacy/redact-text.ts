import { namesPeople } from '../../base/columns.ts'
import { decoded, layersOf } from './decode.ts'
import type { DecodedText } from './decode.ts'
import type { ErasedPeople } from './people.ts'

/** Part of a text that tells an erased person, and what takes its place. */
interface Found {
  readonly from: number
  readonly to: number
  readonly by: string
}

/** Longer than any id; what is longer is not compared as a whole. */
const ID_MAX_CHARACTERS = 1024
/** An address has no more on either side of its @ (RFC 5321 allows 64 and 255). */
const ADDRESS_SIDE_MAX = 320
/** In place of a name. */
const ERASED_NAME = 'erased'
/** Names of more words than this are found as whole values only. */
const NAME_WORDS_MAX = 8

/**
 * What stands for a text that as a whole is the id or address of somebody erased; null where it is neither.
 * @param isAboutPeople true where the value's place says that it names people (`userId`, `readBy`): an id that could be any
 * number or word is one only there
 */
export function pseudonymOfValue(
  text: string,
  erased: ErasedPeople,
  isAboutPeople: () => boolean,
): string | null {
  if (text.length > ID_MAX_CHARACTERS) return null
  const plain = decoded(text)
  for (const written of [text, plain]) {
    const id = erased.pseudonymOf(written)
    if (id !== null && (!isCommon(written) || isAboutPeople())) return id
  }
  return plain.includes('@') || plain.startsWith('hmac:') ? erased.pseudonymOfEmail(plain) : null
}

/**
 * A text without addresses of erased people, however they are encoded, and without their ids where these are a part of a
 * URL, or cannot be a word or a number. Everything else stays as it is written.
 */
export function redactWords(text: string, erased: ErasedPeople): string {
  if (!/[@&%\\/=#\d"]/.test(text)) return text
  return replaced(text, (layer, find) => {
    findAddresses(layer, erased, find)
    findIds(layer, erased, find)
  })
}

/**
 * A text without the names of erased people; only for what stands beside an id or address of theirs.
 * @param mayBeWord true where a name of one word is a name, and not `May`
 */
export function redactNames(text: string, erased: ErasedPeople, mayBeWord: boolean): string {
  return replaced(text, (layer, find) => {
    const words = [...layer.text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)]
    const isMention = mayBeWord || layer.text.trimStart().startsWith('@')
    for (let first = 0; first < words.length; first += 1) {
      const from = (words[first] as RegExpExecArray).index
      for (let count = Math.min(NAME_WORDS_MAX, words.length - first); count > 0; count -= 1) {
        const last = words[first + count - 1] as RegExpExecArray
        const to = last.index + last[0].length
        if (count === 1 && !(isMention && words.length === 1)) continue
        if (!erased.hasName(layer.text.slice(from, to))) continue
        find(from, to, ERASED_NAME)
        break
      }
    }
  })
}

/** True for what could as well be a number or a short word: `42` in a member that names no person is a number. */
function isCommon(id: string): boolean {
  return id.length < 3 || (id.length < 10 && /^[\d.,:/-]+$/.test(id))
}

/** True for what is no word and no number of any language: `user-17`. */
function isUnmistakable(id: string): boolean {
  return id.length >= 4 && /\d/.test(id) && /\p{L}/u.test(id)
}

/** Finds on every layer of encoding, and replaces in the text as it is written. */
function replaced(
  text: string,
  look: (layer: DecodedText, find: (from: number, to: number, by: string) => void) => void,
): string {
  const found: Found[] = []
  for (const layer of layersOf(text)) {
    look(layer, (start, end, by) => {
      const [from, to] = layer.range(start, end)
      found.push({ from, to, by })
    })
  }
  found.sort((a, b) => a.from - b.from || b.to - a.to)
  let result = ''
  let at = 0
  for (const { from, to, by } of found) {
    if (from < at) continue
    result += text.slice(at, from) + by
    at = to
  }
  return result + text.slice(at)
}

function findAddresses(
  { text }: DecodedText,
  erased: ErasedPeople,
  find: (from: number, to: number, by: string) => void,
): void {
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const ends = domainEnds(text, at + 1)
    for (const from of localStarts(text, at)) {
      const hit = ends
        .map((to) => ({ to, by: erased.pseudonymOfEmail(text.slice(from, to)) }))
        .find(({ by }) => by !== null)
      if (hit === undefined) continue
      find(from, hit.to, hit.by as string)
      break
    }
  }
}

const OUTSIDE_OF_LOCAL = /[\s@<>()[\]{},;:"\\\u2018-\u201f\u00ab\u00bb\u3000-\u303f]/
const DOMAIN = /^[\p{L}\p{M}\p{N}.-]*/u

/** Where the part before an @ may begin, the longest first: what stands before a delimiter may be another text. */
function localStarts(text: string, at: number): number[] {
  const starts: number[] = []
  let from = at
  const edge = Math.max(0, at - ADDRESS_SIDE_MAX)
  while (from > edge && !OUTSIDE_OF_LOCAL.test(text[from - 1] as string)) from -= 1
  let isOnlyMarks = true
  for (let start = from; start < at; start += 1) {
    const before = start === from ? '' : (text[start - 1] as string)
    isOnlyMarks &&= /^['_*~.+-]?$/.test(before)
    const isNewScript = before >= '\u2e80' && (text[start] as string) < '\u0080'
    if (isOnlyMarks || isNewScript || /[/=?&#!$%^|`]/.test(before)) starts.push(start)
  }
  return starts
}

/** Where the part behind an @ may end: whole, or where another script begins. */
function domainEnds(text: string, begin: number): number[] {
  const [whole] = DOMAIN.exec(text.slice(begin, begin + ADDRESS_SIDE_MAX)) as RegExpExecArray
  const ends = [whole, whole.replace(/[^\0-\x7f].*/s, '')]
  return ends.map((domain) => begin + domain.replace(/[.-]+$/, '').length)
}

/** What a text is divided into before it is looked at as a URL or a word. */
const CHUNK = /[^\s"'<>`()[\]{},;]+/g
const IS_URL = /:\/\/|^[/#?]|^www\.|[?&][^?&=]*=/i
/** Marks around an id that are not part of it. */
const MARKS = /^[@.:!*_~]+|[.:!?*_~]+$/g

function findIds(
  { text }: DecodedText,
  erased: ErasedPeople,
  find: (from: number, to: number, by: string) => void,
): void {
  let wordBefore = ''
  for (const { 0: chunk, index } of text.matchAll(CHUNK)) {
    const isUrl = IS_URL.test(chunk)
    const isQuoted = text[index - 1] === '"' && text[index + chunk.length] === '"'
    if (!isUrl && !isQuoted && !/\d/.test(chunk)) {
      if (/\p{L}/u.test(chunk)) wordBefore = chunk
      continue
    }
    for (const { 0: part, index: offset } of chunk.matchAll(isUrl ? /[^/?#&=]+/g : /.+/gs)) {
      if (part.length > ID_MAX_CHARACTERS) continue
      const before = wordBefore
      const word = part.replace(MARKS, '')
      if (word !== '') wordBefore = word
      for (const id of new Set([part, word, word.slice(word.lastIndexOf(':') + 1)])) {
        const plain = isUrl ? decoded(id) : id
        const isClear = isUrl ? !isCommon(plain) : isUnmistakable(plain)
        if (!isClear && !isUrl && !isQuoted) continue
        const by = erased.pseudonymOf(plain)
        if (by === null || !(isClear || namesPeople(before))) continue
        const from = index + offset + part.lastIndexOf(id)
        find(from, from + id.length, by)
        break
      }
    }
  }
}
