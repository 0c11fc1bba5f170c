import { isHashedEmail } from '../privacy/people.ts'

/** Any run of characters that a URL, HTML or JSON may write a character as. */
const ENCODED = '[%&\\\\][%&#;\\\\a-z0-9]*'
/** What may stand before an id: nothing of a word, and a letter where it ends an encoded character. */
const BEFORE_ID = '(?:^|[^a-z0-9]|%[0-9a-f]{2}|%25[0-9a-f]{2}|\\\\u[0-9a-f]{4}|\\\\[bfnrt])'
const AFTER_ID = '(?:[^a-z0-9]|$)'
/** Any address, and all that may be an encoded one: where just the hash of one is known. */
const ANY_ADDRESS = '@|[%&\\\\][#a-z0-9]'

/**
 * A regular expression of PostgreSQL, whatever the case, for every text in which an id or an address may stand, however it is
 * encoded. It finds more than that: src/privacy decides.
 */
export function patternOf(userId: string | null, emails: readonly string[]): string {
  const isHashed = emails.some(isHashedEmail)
  return [
    ...emails.map(encodedPattern),
    ...(isHashed ? [ANY_ADDRESS] : []),
    ...(userId === null ? [] : [BEFORE_ID + encodedPattern(userId) + AFTER_ID]),
  ].join('|')
}

/** A regular expression of PostgreSQL for words that hold a name as a whole; null where there is no name. */
export function namesPattern(names: readonly string[]): string | null {
  return names.length === 0 ? null : names.map((name) => `\\m${literal(name)}\\M`).join('|')
}

/** For `like`: any text that holds it. */
export function containing(text: string): string {
  return `%${text.replace(/[%_\\]/g, '\\$&')}%`
}

function encodedPattern(text: string): string {
  return [...text.toLowerCase()]
    .map((character) => {
      const upper = character.toUpperCase()
      const either = upper === character ? [character] : [character, upper]
      return `(?:${either.map((each) => `\\\\*${literal(each)}`).join('|')}|${ENCODED})`
    })
    .join('')
}

function literal(text: string): string {
  return text.replace(/[^\p{L}\p{N}\s]/gu, '\\$&')
}
