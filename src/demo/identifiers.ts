export type Noun = 'organization' | 'document' | 'annotation' | 'group' | 'user' | 'guest' | 'ghost'

/**
 * The forms of each identifier, used in turn. Each ends in the index, so that the index can be read
 * from the id. Ids repeat between parents (every organization has a `user-1`), because only the full path of ids is a key.
 */
const forms: Record<Noun, readonly ((index: number) => string)[]> = {
  organization: [
    (index) => `org-${index}`,
    (index) => `O'Brien & "Söhne" GmbH/${index}`,
    (index) => `株式会社 ${index}`,
    (index) => `org-${index}`,
    (index) => `100%25 org ${index}`,
    (index) => `org-${index}`,
  ],
  document: [
    (index) => `doc-${index}`,
    (index) => `plans/2025/q3 "final"/${index}`,
    (index) => `doc-${index}`,
    (index) => `Отчёт №${index}`,
    (index) => `doc-${index}`,
    (index) => `50% off?a=b&c=${index}`,
    (index) => `doc-${index}`,
    (index) => `مستند ${index}`,
    (index) => `C:\\files\\it's ${index}`,
  ],
  annotation: [
    (index) => `ann-${index}`,
    (index) => `ann-${index}`,
    (index) => `note #/"${index}`,
    (index) => `ann-${index}`,
    (index) => `批注 ${index}`,
    (index) => `ann-${index}`,
    (index) => `%2F%00'${index}`,
    (index) => `ann-${index}`,
    (index) => `😀 ${index}`,
    (index) => `ann-${index}`,
  ],
  group: [
    (index) => `group-${index}`,
    (index) => `R&D / "core" ${index}`,
    (index) => `группа ${index}`,
    (index) => `100% ${index}`,
  ],
  user: [
    (index) => `user-${index}`,
    (index) => `user-${index}`,
    (index) => `auth0|${index}`,
    (index) => `user-${index}`,
    (index) => `用户 ${index}`,
    (index) => `user-${index}`,
    (index) => `o'neil "x"/%${index}`,
  ],
  guest: [(index) => `guest-${index}`],
  ghost: [(index) => `former-${index}`],
}

export function idOf(noun: Noun, index: number): string {
  const own = forms[noun]
  return (own[index % own.length] as (index: number) => string)(index)
}

/** The index of an identifier that `idOf` returns; undefined for any other text. */
export function indexOf(noun: Noun, id: string): number | undefined {
  let start = id.length
  while (start > 0 && isDigit(id.charCodeAt(start - 1))) start--
  const index = start === id.length ? NaN : Number(id.slice(start))
  return Number.isSafeInteger(index) && idOf(noun, index) === id ? index : undefined
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}
