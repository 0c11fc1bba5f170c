export type Noun = 'organization' | 'document' | 'annotation' | 'group' | 'user' | 'guest' | 'ghost'

/**
 * The beginnings of each identifier, used in turn. An identifier ends in its index. Ids repeat between parents (every
 * organization has a `user-1`), because only the full path of ids is a key.
 */
const BEGINNINGS: Record<Noun, readonly string[]> = {
  organization: ['org-', `O'Brien & "Söhne" GmbH/`, '株式会社 ', 'org-', '100%25 org ', 'org-'],
  document: [
    'doc-',
    'plans/2025/q3 "final"/',
    'doc-',
    'Отчёт №',
    'doc-',
    '50% off?a=b&c=',
    'doc-',
    'مستند ',
    "C:\\files\\it's ",
  ],
  annotation: [
    'ann-',
    'ann-',
    'note #/"',
    'ann-',
    '批注 ',
    'ann-',
    `%2F%00'`,
    'ann-',
    '😀 ',
    'ann-',
  ],
  group: ['group-', 'R&D / "core" ', 'группа ', '100% '],
  user: ['user-', 'user-', 'auth0|', 'user-', '用户 ', 'user-', `o'neil "x"/%`],
  guest: ['guest-'],
  ghost: ['former-'],
}

/** `any`: identifiers and names of people with all characters that a sync must handle. `plain`: easy to read and type. */
export type Names = 'any' | 'plain'

/** The first plain identifiers of each kind; the others are their kind and index. */
const PLAIN: Partial<Record<Noun, readonly string[]>> = {
  organization: ['acme', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'harbor'],
  document: ['contract', 'budget', 'plan', 'report', 'handbook', 'roadmap', 'offer', 'invoice'],
  group: ['sales', 'legal', 'design'],
}

export function idOf(noun: Noun, index: number, names: Names = 'any'): string {
  const own = BEGINNINGS[noun]
  if (names === 'plain') return PLAIN[noun]?.[index] ?? `${own[0]}${index}`
  return `${own[index % own.length]}${index}`
}
