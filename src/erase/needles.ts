/** Shorter texts are found only where they are a whole JSON value: `Al` stands in half of all words. */
const SHORTEST_IN_TEXT = 3

/** What tells a person in texts. */
export interface Needles {
  /** For plain text. */
  readonly plain: readonly string[]
  /** For JSON text, in each way that JSON writes a character. */
  readonly json: readonly string[]
}

/** What to look for, for a person with an id, names and e-mail addresses. */
export function needlesOf(texts: readonly string[]): Needles {
  const isLong = (text: string) => text.length >= SHORTEST_IN_TEXT
  return {
    plain: texts.filter(isLong),
    json: [
      ...new Set(
        texts.flatMap((text) =>
          waysInJson(text).map((written) => (isLong(text) ? written : `"${written}"`)),
        ),
      ),
    ],
  }
}

/** Inside of a JSON string a character may stand for itself or as an escape, and a slash may be escaped too. */
export function waysInJson(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1)
  const escaped = plain.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  const upper = escaped.replace(/\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`)
  const ways = [plain, escaped, upper]
  return [...new Set([...ways, ...ways.map((way) => way.replaceAll('/', '\\/'))])]
}
