import { domainToASCII, domainToUnicode } from 'node:url'

/** Longer than either side of an address (RFC 5321 allows 64 and 255 characters). */
const SIDE_MAX = 320
/** What every address has, and every percent-encoded one. */
const AT = /[@＠﹫]|%40|%ef%(?:bc%a0|b9%ab)/i
/** Stands for an inline tag while addresses are searched for. Unicode assigns no character to it. */
const TAG = '\ufdd0'
/** Tags that do not divide a word. */
const INLINE_TAG =
  /<\/?(?:a|abbr|b|bdi|bdo|big|code|del|em|font|i|ins|mark|s|small|span|strike|strong|sub|sup|tt|u|wbr)(?:[\s/][^<>]*)?>/gi
const WITHIN_WORD = new RegExp(`[^\\s<>](?:${INLINE_TAG.source})+[^\\s<>]`, 'i')
/** Tags, and characters that are not displayed, such as a soft hyphen. PostgreSQL stores no NUL. */
const INVISIBLE = /[\0\ufdd0\p{Default_Ignorable_Code_Point}]/gu

/** Text that has one spelling. */
const ASCII = /^[\t\n\r -~]*$/

/** A text as a reader sees it: characters that look the same are the same, and those that are not displayed are left out. */
function visible(text: string): string {
  if (ASCII.test(text)) return text
  const shown = text.replaceAll(INVISIBLE, '').normalize('NFC')
  return shown.replaceAll(/[＠﹫]/g, '@').replaceAll('．', '.')
}

/**
 * Equal for all spellings of one address: in lower case, NFC, and ASCII after the `@` (RFC 5890). NFKC would take `user²` for
 * `user2`.
 */
export function canonicalAddress(address: string): string {
  const text = visible(address.trim().toLowerCase())
  const domain = text.slice(text.lastIndexOf('@') + 1)
  if (domain === text || ASCII.test(domain)) return text
  return text.slice(0, -domain.length) + (domainToASCII(domain) || domain)
}

/** How an address is written in earlier and other programs: all spellings to search stored columns for, in lower case. */
export function spellingsOf(address: string): string[] {
  const canonical = canonicalAddress(address)
  const at = canonical.lastIndexOf('@') + 1
  const readable =
    canonical.slice(0, at) + (domainToUnicode(canonical.slice(at)) || canonical.slice(at))
  const all = [address.trim().toLowerCase(), canonical, readable]
  return [...new Set(all.flatMap((each) => [each, each.normalize('NFC'), each.normalize('NFD')]))]
}

/** True if the text can be an address. */
export function mayBeAddress(text: string): boolean {
  return AT.test(text)
}

/** The last part of a domain begins with a letter, unlike a version: `package@1.2.3`. */
const ADDRESS =
  /^(?:"[^"]{1,64}"|[^\s@"<>()[\]{},;:/?=&#|]+)@(?:[^\s@.<>"]+\.)+\p{L}[^\s@.<>"]*\.?$/u

/** The address that a text is as a whole, not percent-encoded; null for any other text. */
export function wholeAddress(text: string): string | null {
  if (text.length > 2 * SIDE_MAX || !AT.test(text)) return null
  const address = visible(percentDecoded(text)).trim()
  return ADDRESS.test(address) ? address : null
}

/** Replaces an address in a text; null if it stays. */
export type ReplaceAddress = (address: string) => string | null

/** An address whose local part is quoted (RFC 5321, 4.1.2). */
const QUOTED = /"[^"@\r\n]{1,64}"@[\p{L}\p{M}\p{N}.-]*[\p{L}\p{M}\p{N}]/gu

/** A text with addresses replaced, also within a word and in the attributes of a tag. */
export function replaceAddresses(text: string, replacement: ReplaceAddress): string {
  if (!AT.test(text)) return text
  const unquoted = text.replace(QUOTED, (address) => replacement(address) ?? address)
  const replaced = replaceByWord(unquoted, replacement)
  if (!WITHIN_WORD.test(replaced) || replaced.includes(TAG)) return replaced
  // Again without the tags: they may divide an address.
  const tags = replaced.match(INLINE_TAG) ?? []
  const untagged = replaceByWord(replaced.replace(INLINE_TAG, TAG), replacement)
  const inOrder = tags.values()
  return untagged.replaceAll(TAG, () => inOrder.next().value ?? '')
}

/** Characters that are part of no address, as they are and percent-encoded. They divide a text into words. */
const SEPARATOR =
  /((?!\ufeff)[\s<>()[\]{},;:"\\/?&=#|!`\u2018-\u201f\u00ab\u00bb\u3000-\u303f]|%(?:0[9ad]|2[0-368c9f]|3[a-f]|5[b-d]|7[b-d]))/i

function replaceByWord(text: string, replacement: ReplaceAddress): string {
  return text
    .split(SEPARATOR)
    .map((word) => {
      if (!AT.test(word)) return word
      const plain = visible(percentDecoded(word))
      const replaced = replaceInWord(plain, replacement)
      if (replaced === plain) return word
      return replaced + TAG.repeat(word.split(TAG).length - 1)
    })
    .join('')
}

/** The side before an @: whole, without Markdown and quotes, and without another script that runs into it. */
const LOCAL_SIDES = [/^.+$/s, /[^'_*~.+-].*$/s, /[!-~]+$/]
/** The side after an @: whole, and without another script that runs into it. */
const DOMAIN_SIDES = [/^[\p{L}\p{M}\p{N}.-]*[\p{L}\p{M}\p{N}]/u, /^[a-z\d.-]*[a-z\d]/i]

function replaceInWord(word: string, replacement: ReplaceAddress): string {
  const [first = '', ...sides] = word.split('@')
  const parts: string[] = []
  let before = first
  for (const after of sides) {
    const { local, domain, replaced } = addressAround(before, after, replacement)
    parts.push(before.slice(0, before.length - local.length), replaced)
    before = after.slice(domain.length)
  }
  parts.push(before)
  return parts.join('')
}

/** The address around an @, and its replacement; the @ alone if there is none. */
function addressAround(before: string, after: string, replacement: ReplaceAddress) {
  for (const localSide of before === '' || after === '' ? [] : LOCAL_SIDES) {
    for (const domainSide of DOMAIN_SIDES) {
      const local = localSide.exec(before.slice(-SIDE_MAX))?.[0]
      const domain = domainSide.exec(after.slice(0, SIDE_MAX))?.[0]
      if (local === undefined || domain === undefined) continue
      const replaced = replacement(`${local}@${domain}`)
      if (replaced !== null) return { local, domain, replaced }
    }
  }
  return { local: '', domain: '', replaced: '@' }
}

/** One layer of percent-encoded UTF-8; what is no such character stays as it is written. */
export function percentDecoded(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      return encoded
    }
  })
}
