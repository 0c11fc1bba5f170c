import { expect, test } from 'vitest'
import { erasedIn, hashEmail, pseudonymOf } from '../../src/features/privacy/people.ts'
import { redactComment } from '../../src/features/privacy/redact.ts'
import type { Redaction } from '../../src/features/privacy/redact.ts'

const SALT = Buffer.from('a salt of a database')
const ERASURE = {
  organizationId: null,
  pseudonym: pseudonymOf(SALT, 'user-17'),
  emailHashes: [hashEmail(SALT, 'w@unlisted.example')],
  nameHashes: [],
}
const REDACTION: Redaction = {
  email: null,
  keepsUnknown: true,
  erased: erasedIn(SALT, [ERASURE], 'org'),
}

test.each(['a%41&b', '@', '.', '&', '?x=', '%', '\\', '"42"', 'a@b.', '&#', ' @x'])(
  'a text of %j a million times over ends',
  (part) => {
    const long = part.repeat(1_000_000 / part.length)
    const comment = { commentId: 1, commentText: `${long}@${long}`, x: long }
    expect(redactComment(comment, REDACTION)).toEqual(comment)
  },
)
