import { describe, expect, test } from 'vitest'
import { COMMENT_COLUMN_LIST, COMMENT_PEOPLE } from '../../src/base/columns.ts'
import type { NamedColumn } from '../../src/base/columns.ts'
import type { Json } from '../../src/base/json.ts'
import { peopleOf } from '../../src/core/sync/commit/user-rows.ts'
import { COMMENTS } from '../../src/core/sync/record/comment.ts'
import { Received } from '../../src/core/sync/record/received.ts'
import { readAgain } from '../../src/core/sync/record/records.ts'
import { USERS } from '../../src/core/sync/record/user.ts'
import { erasedIn, hashEmail, hashName, pseudonymOf } from '../../src/features/privacy/people.ts'
import { redactComment, redactUser } from '../../src/features/privacy/redact.ts'
import type { Redaction } from '../../src/features/privacy/redact.ts'
import { commentColumns } from '../helpers/columns.ts'

/** Each person of a comment is read, kept as a user and redacted: none can be forgotten. `people.pg` erases them. */

const SALT = Buffer.from('a salt of a database')
const ID = 'user-17'
const PSEUDONYM = pseudonymOf(SALT, ID)
const ADDRESS = 'w@unlisted.example'
const ERASED = erasedIn(
  SALT,
  [
    {
      organizationId: null,
      pseudonym: PSEUDONYM,
      emailHashes: [hashEmail(SALT, ADDRESS)],
      nameHashes: [hashName(SALT, 'W')],
    },
  ],
  'org',
)
const EMAILS = { keep: null, hash: (email: string) => hashEmail(SALT, email), drop: () => null }

const FIELDS = { manager: { id: ID, name: 'W' }, homeEmail: 'home@x.example', n: 1 }
const SUMMARIES: Record<string, Json> = {
  'the person': { userId: ID, name: 'W', email: ADDRESS, ...FIELDS },
  'the person without an ID': { name: 'W', email: ADDRESS, ...FIELDS },
  'the person under another ID': { userId: 'user-99', name: 'W', email: ADDRESS, ...FIELDS },
  'another person': { userId: 'user-18', name: 'Bob', email: 'bob@x.example', ...FIELDS },
}
const WORDS = { commentText: 'words', commentHtml: '<p>words</p>', attachments: ['words'] }
const REDACTIONS = Object.entries(EMAILS).flatMap(([policy, email]) =>
  [true, false].map((keepsUnknown): [string, Redaction] => [
    `${policy} addresses, ${keepsUnknown ? 'keep' : 'drop'} unknown fields`,
    { email, keepsUnknown, erased: ERASED },
  ]),
)

/** A comment with other people in every position but one. */
function commentWith(member: string, summary: unknown): Json {
  const others = COMMENT_PEOPLE.map((each) => [each.member, SUMMARIES['another person']])
  return { commentId: 1, ...WORDS, ...Object.fromEntries(others), [member]: summary }
}

test('a field of an object has a column only if the object is a person', () => {
  const columns: readonly NamedColumn[] = COMMENT_COLUMN_LIST
  const members = COMMENT_PEOPLE.map(({ member }) => member)
  expect(members[0]).toBe('from')
  for (const { member, person } of columns) {
    const [holder, field] = member?.split('.') ?? []
    expect([member, person !== undefined]).toEqual([member, field !== undefined])
    if (field !== undefined) expect(members).toContain(holder)
  }
})

test('every person of a comment is a user', () => {
  const people = COMMENT_PEOPLE.map(({ person, member }) => [member, { userId: person }])
  const text = JSON.stringify({ commentId: 1, ...Object.fromEntries(people) })
  const names = COMMENT_PEOPLE.map(({ person }) => person)
  expect([...peopleOf([readAgain(COMMENTS, text)]).keys()]).toEqual(names)
})

describe.each(COMMENT_PEOPLE)('the $person of a comment', ({ person, member }) => {
  test('is read into columns, and is a user as in a listing', () => {
    const summary = SUMMARIES['another person']
    const comment = readAgain(COMMENTS, JSON.stringify({ commentId: 1, [member]: summary }))
    const columns: Record<string, unknown> = commentColumns(comment)
    expect(['UserId', 'Name', 'Email'].map((field) => columns[`${person}${field}`])).toEqual([
      'user-18',
      'Bob',
      'bob@x.example',
    ])
    expect(JSON.parse(String(columns['rest']))).toEqual({ [member]: summary })
    const { texts, digest } = readAgain(USERS, JSON.stringify(summary))
    expect([...peopleOf([comment]).values()]).toEqual([
      { userId: 'user-18', texts, digest, source: 1, sourceAt: null, listed: false },
    ])
  })

  test.each([
    ['{"userId":7}', `userId is a number, not a string: ${person}_user_id was set to null`],
    ['{"userId":"u","name":7}', 'name is a number, not a string: name was set to null'],
  ])('has %s reported by the name of its field', (summary, reason) => {
    const rejects: { reason: string }[] = []
    const dataText = `[{"commentId":1,"${member}":${summary}}]`
    const data = JSON.parse(dataText) as unknown[]
    const received = new Received({ data, dataText }, null, rejects as never)
    COMMENTS.read(data[0] as Json, received, null)
    expect(rejects.map((each) => each.reason)).toEqual([`${member}: ${reason}`])
  })

  describe.each(REDACTIONS)('%s:', (_, redaction) => {
    test.each(Object.entries(SUMMARIES))('%s is redacted as a user', (_, summary) => {
      const redacted = redactComment(commentWith(member, summary), redaction) as Json
      expect(redacted[member] ?? {}).toEqual(redactUser(summary, redaction))
      expect(redactComment(redacted, redaction)).toEqual(redacted)
    })

    test('their erasure keeps every other person, and only an erased author loses words', () => {
      const comment = commentWith(member, SUMMARIES['the person'])
      const redacted = redactComment(comment, redaction) as Json
      const other = redactUser(SUMMARIES['another person'], redaction)
      for (const each of COMMENT_PEOPLE)
        expect(redacted[each.member]).toEqual(
          each.member === member ? { userId: PSEUDONYM } : other,
        )
      expect(redacted['commentText']).toBe(person === 'author' ? undefined : 'words')
      const keepsFields = person !== 'author' && redaction.keepsUnknown
      expect(redacted['attachments']).toEqual(keepsFields ? ['words'] : undefined)
    })
  })

  test('is known by `id` too', () => {
    const redaction = { email: null, keepsUnknown: true, erased: ERASED }
    // Of a comment by an erased author little else is kept.
    for (const author of ['another person', 'the person']) {
      const comment = { ...commentWith('from', SUMMARIES[author]), [member]: { id: ID, name: 'W' } }
      const redacted = redactComment(comment, redaction) as Json
      expect(redacted[member]).toEqual({ id: PSEUDONYM })
    }
  })
})
