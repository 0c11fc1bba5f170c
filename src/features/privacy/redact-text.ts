import { namesPeople } from '../../base/columns.ts'
import { mayBeAddress, percentDecoded, replaceAddresses } from './address.ts'
import type { ErasedPeople } from './people.ts'

/** Characters, more than any id and any address has: longer texts are not compared as a whole. */
const ID_MAX = 1024
/** Characters. Shorter ids are words too, such as `main` in `class="main"`. */
const ID_IN_TEXT_MIN = 6
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
  if (text.length > ID_MAX) return null
  const id = isAboutPeople || !isCommon(text) ? erased.pseudonymOf(text) : null
  if (id !== null) return id
  return mayBeAddress(text) || text.startsWith('hmac:') ? erased.pseudonymOfEmail(text) : null
}

/** True for an id that can also be a page number, a count or a short word. */
function isCommon(id: string): boolean {
  return id.length < 3 || /^-?\d+(\.\d+)?$/.test(id)
}

/** Redacts a text as a whole value, else as a list of values and as words. */
export function redactString(text: string, erased: ErasedPeople, isAboutPeople: boolean): string {
  const value = withoutNul(text)
  const pseudonym = pseudonymOfValue(value, erased, isAboutPeople)
  if (pseudonym !== null) return pseudonym
  const items = /[,;|\n]/.test(value) ? redactItems(value, erased, isAboutPeople) : value
  return redactWords(items === value ? text : items, erased)
}

/** A text without the ids of erased people in URLs and after names like `user:`, and without their addresses. */
export function redactWords(received: string, erased: ErasedPeople): string {
  const text = withoutNul(received)
  const withoutIds = redactNamed(redactUrls(text, erased), erased)
  const redacted = replaceAddresses(withoutIds, (address) => erased.pseudonymOfEmail(address))
  return redacted === text ? received : redacted
}

/** PostgreSQL stores no NUL, and the reasons of rejected records have it escaped. So it hides nothing. */
function withoutNul(text: string): string {
  return text.replaceAll(/\0|\\u0000/g, '')
}

/** An item of a list in one text, such as `user-17, user-18`. */
const ITEM = /[^\s,;](?:[^,;\r\n]*[^\s,;])?/g

function redactItems(text: string, erased: ErasedPeople, isAboutPeople: boolean): string {
  const redacted = (item: string) => {
    const isId = isAboutPeople || !isCommon(item)
    return isId && item.length >= ID_IN_TEXT_MIN && item.length <= ID_MAX
      ? erased.pseudonymOf(item)
      : null
  }
  return text.replace(ITEM, (item) => {
    // Hashing every part of a sentence would cost more than all the rest.
    const pseudonym = /\s/.test(item) ? null : redacted(item)
    if (pseudonym !== null || !item.includes('|')) return pseudonym ?? item
    return item.replace(/[^\s|]+/g, (part) => redacted(part) ?? part)
  })
}

const CHUNK = /[^\s"'<>`()[\]{},;]+/g
const IS_URL = /:\/\/|^\/|^www\.|\?[^?=]*=/i
/** A path segment, or the name or value of a query parameter. */
const URL_PART = /[^/?#&=]+/g

function redactUrls(text: string, erased: ErasedPeople): string {
  if (!/[/?]|www\./i.test(text)) return text
  return text.replace(CHUNK, (chunk) =>
    IS_URL.test(chunk) ? chunk.replace(URL_PART, (part) => redactPart(part, erased, 0)) : chunk,
  )
}

/** The value of an attribute of a tag, in quotes. */
const ATTRIBUTE = /(?<=(?<![\w-])([\w-]{1,64})\s?=\s?)(?:"[^"]*"|'[^']*')/g
/** What follows a name, as in `urn:user:user-17` or `users/user-17`. */
const AFTER_NAME = /(?<=(?<![\w-])([\w-]{1,64})[:/=] ?)[^\s"'<>`()[\]{},;:/?#&=]+/g

/** Replaces ids after a name that names people. */
function redactNamed(text: string, erased: ErasedPeople): string {
  if (!/[:/=]/.test(text)) return text
  return text
    .replace(ATTRIBUTE, (quoted, name: string) => {
      if (!namesPeople(name)) return quoted
      return quoted[0] + redactItems(quoted.slice(1, -1), erased, true) + quoted[0]
    })
    .replace(AFTER_NAME, (part, name: string) =>
      namesPeople(name) ? redactPart(part, erased, ID_IN_TEXT_MIN) : part,
    )
}

/** @param part may end with the mark of a sentence */
function redactPart(part: string, erased: ErasedPeople, idMin: number): string {
  if (part.length > ID_MAX) return part
  const mark = /[.:!]*$/.exec(part)?.[0] ?? ''
  const id = percentDecoded(part.slice(0, part.length - mark.length))
  const pseudonym = isCommon(id) || id.length < idMin ? null : erased.pseudonymOf(id)
  return pseudonym === null ? part : pseudonym + mark
}
