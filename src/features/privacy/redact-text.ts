import type { ErasedPeople } from './people.ts'

/** Longer than any id and any address: longer texts are not compared as a whole. */
const ID_MAX_CHARACTERS = 1024
/** Longer than either side of an address (RFC 5321 allows 64 and 255 characters). */
const ADDRESS_SIDE_MAX = 320
/** Replaces an id or address of an erased person (people.ts). */
export const PSEUDONYM = /erased:[0-9a-f]{32}/

/**
 * The pseudonym for a whole value that is the id or an address of an erased person; null for any other value.
 * @param isAboutPeople whether the member that holds the value names people (`userId`, `readBy`)
 */
export function pseudonymOfValue(
  text: string,
  erased: ErasedPeople,
  isAboutPeople: boolean,
): string | null {
  if (text.length > ID_MAX_CHARACTERS) return null
  const id = isAboutPeople || !isCommon(text) ? erased.pseudonymOf(text) : null
  if (id !== null) return id
  return text.includes('@') || text.startsWith('hmac:') ? erased.pseudonymOfEmail(text) : null
}

/** True for an id that can also be a page number, a count or a short word. */
function isCommon(id: string): boolean {
  return id.length < 3 || /^-?\d+(\.\d+)?$/.test(id)
}

/** Redacts a text as a whole value, else as words. */
export function redactString(text: string, erased: ErasedPeople, isAboutPeople: boolean): string {
  const value = text.replaceAll('\0', '')
  return pseudonymOfValue(value, erased, isAboutPeople) ?? redactWords(text, erased)
}

/** A text without the ids of erased people in URLs and without their addresses. PostgreSQL stores no NUL, so it hides nothing. */
export function redactWords(received: string, erased: ErasedPeople): string {
  const text = received.replaceAll('\0', '')
  const redacted = redactAddresses(redactUrls(text, erased), erased)
  return redacted === text ? received : redacted
}

const CHUNK = /[^\s"'<>`()[\]{},;]+/g
const IS_URL = /:\/\/|^\/|^www\.|\?[^?=]*=/i
/** A path segment, or the name or value of a query parameter. */
const URL_PART = /[^/?#&=]+/g

function redactUrls(text: string, erased: ErasedPeople): string {
  if (!/[/?]|www\./i.test(text)) return text
  return text.replace(CHUNK, (chunk) => {
    if (!IS_URL.test(chunk)) return chunk
    return chunk.replace(URL_PART, (part) => {
      if (part.length > ID_MAX_CHARACTERS) return part
      // Of a URL at the end of a sentence.
      const mark = /[.:!]*$/.exec(part)?.[0] ?? ''
      const id = percentDecoded(part.slice(0, part.length - mark.length))
      const pseudonym = isCommon(id) ? null : erased.pseudonymOf(id)
      return pseudonym === null ? part : pseudonym + mark
    })
  })
}

/** Characters that are part of no address, as they are and percent-encoded. They divide a text into words. */
const SEPARATOR =
  /([\s<>()[\]{},;:"\\/?&=#|!`\u2018-\u201f\u00ab\u00bb\u3000-\u303f]|%(?:0[9ad]|2[0-368c9f]|3[a-f]|5[b-d]|7[b-d]))/i

function redactAddresses(text: string, erased: ErasedPeople): string {
  if (!/@|%40/i.test(text)) return text
  return text
    .split(SEPARATOR)
    .map((word) => {
      if (!/@|%40/i.test(word)) return word
      const plain = percentDecoded(word)
      const redacted = redactAddressesOfWord(plain, erased)
      return redacted === plain ? word : redacted
    })
    .join('')
}

/** The side before an @: whole, without Markdown and quotes, and without another script that runs into it. */
const LOCAL_SIDES = [/^.+$/s, /[^'_*~.+-].*$/s, /[!-~]+$/]
/** The side after an @: whole, and without another script that runs into it. */
const DOMAIN_SIDES = [/^[\p{L}\p{M}\p{N}.-]*[\p{L}\p{M}\p{N}]/u, /^[a-z\d.-]*[a-z\d]/i]

function redactAddressesOfWord(word: string, erased: ErasedPeople): string {
  const [first = '', ...sides] = word.split('@')
  const redacted: string[] = []
  let before = first
  for (const after of sides) {
    const { local, domain, pseudonym } = addressOf(before, after, erased)
    redacted.push(before.slice(0, before.length - local.length), pseudonym)
    before = after.slice(domain.length)
  }
  redacted.push(before)
  return redacted.join('')
}

/** The address of an erased person around an @, and its pseudonym; the @ alone if there is none. */
function addressOf(before: string, after: string, erased: ErasedPeople) {
  for (const localSide of before === '' || after === '' ? [] : LOCAL_SIDES) {
    for (const domainSide of DOMAIN_SIDES) {
      const local = localSide.exec(before.slice(-ADDRESS_SIDE_MAX))?.[0]
      const domain = domainSide.exec(after.slice(0, ADDRESS_SIDE_MAX))?.[0]
      if (local === undefined || domain === undefined) continue
      const pseudonym = erased.pseudonymOfEmail(`${local}@${domain}`)
      if (pseudonym !== null) return { local, domain, pseudonym }
    }
  }
  return { local: '', domain: '', pseudonym: '@' }
}

/** One layer of percent-encoded UTF-8; what is no such character stays as it is written. */
function percentDecoded(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      return encoded
    }
  })
}
