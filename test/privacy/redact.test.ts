import { expect, test } from 'vitest'
import {
  emailPseudonymOf,
  erasedIn,
  hashEmail,
  pseudonymOf,
} from '../../src/features/privacy/people.ts'
import { redactText } from '../../src/core/sync/record/received.ts'
import { redactComment, redactRow, redactUser } from '../../src/features/privacy/redact.ts'
import type { Redaction } from '../../src/features/privacy/redact.ts'

const SALT = Buffer.from('a salt of a database')
const ANN = pseudonymOf(SALT, 'ann')
const erased = erasedIn(
  SALT,
  [
    {
      organizationId: null,
      pseudonym: ANN,
      emailHashes: [hashEmail(SALT, 'ann@x.example')],
      nameHashes: [],
    },
  ],
  'org',
)
const ADDRESS = emailPseudonymOf(SALT, 'ann@x.example')
const ERASED: Redaction = { email: null, keepsUnknown: true, erased }
const DROP: Redaction = { email: () => null, keepsUnknown: true, erased: null }
const BARE: Redaction = { email: null, keepsUnknown: false, erased: null }

const comment = (from: unknown, more: object = {}) => ({
  commentId: 7,
  commentText: 'Ann was here, ann@x.example',
  from,
  lastUpdated: '2026-01-02T03:04:05.678Z',
  status: 'added',
  type: 'text',
  ...more,
})

test('of an erased person a comment keeps its place, its time and its state', () => {
  const bare = {
    commentId: 7,
    lastUpdated: '2026-01-02T03:04:05.678Z',
    status: 'added',
    type: 'text',
  }
  const by = comment({ userId: 'ann', name: 'Ann' }, { attachments: ['a.png'], commentHtml: '<b>' })
  expect(redactComment(by, ERASED)).toEqual({ ...bare, from: { userId: ANN } })
  expect(redactComment(comment({ id: 'ann' }), ERASED)).toEqual({ ...bare, from: { id: ANN } })
})

test('a state that is no text is not kept: it may hold words', () => {
  const by = comment({ userId: 'ann' }, { status: { by: 'Ann' }, type: 3, lastUpdated: ['Ann'] })
  expect(redactComment(by, ERASED)).toEqual({ commentId: 7, from: { userId: ANN } })
})

test('an author without a user id is told by the e-mail address, whatever its case', () => {
  const by = comment({ name: 'Ann', email: ' Ann@X.example' })
  const { from: _, commentText: __, ...kept } = comment(null)
  expect(redactComment(by, ERASED)).toEqual(kept)
  expect(redactComment(comment({ name: 'Ann' }), ERASED)).toEqual({
    ...comment({ name: 'Ann' }),
    commentText: `Ann was here, ${ADDRESS}`,
  })
})

test('in records of others an erased person is a pseudonym, at any depth, and of their words just the address goes', () => {
  const by = comment(
    { userId: 'bob', name: 'Bob' },
    {
      seen: { by: ['ann', 'bob'] },
      tagged: [{ userId: 'ann', name: 'Ann' }, { email: 'ann@x.example' }],
    },
  )
  expect(redactComment(by, ERASED)).toEqual({
    ...by,
    commentText: `Ann was here, ${ADDRESS}`,
    seen: { by: [ANN, 'bob'] },
    tagged: [{ userId: ANN }, {}],
  })
})

test('a user who is erased is a pseudonym and nothing else; others are as received', () => {
  expect(redactUser({ userId: 'ann', name: 'Ann', isAdmin: true }, ERASED)).toEqual({ userId: ANN })
  const bob = { userId: 'bob', name: 'Bob', email: 'bob@x.example', tags: [1, null, { a: true }] }
  expect(redactUser(bob, ERASED)).toEqual(bob)
})

test('what is not kept of e-mail addresses is found by name and by look, also where a person has one as a name', () => {
  const user = {
    userId: 'ann@x.example',
    name: 'ann@x.example',
    email: 'ann@x.example',
    workEmail: 'no address',
    'e-mail-address': 17,
    contact: { home: 'ann@home.example', phone: '1' },
    aliases: ['ann@y.example', 'ann'],
    email_verified: true,
    emailAddress: 'none',
    lastEmail: null,
    owner: { email: 'ann@x.example' },
    notes: ['to b@x.example', 'b@x.example is it'],
  }
  expect(redactUser(user, DROP)).toEqual({
    userId: 'ann@x.example',
    contact: { phone: '1' },
    aliases: ['ann'],
    email_verified: true,
    lastEmail: null,
    owner: {},
    notes: ['to b@x.example', 'b@x.example is it'],
  })
})

test('words of comments are left as they are', () => {
  const by = comment({ userId: 'bob', email: 'bob@x.example' }, { commentHtml: 'x@y.example' })
  expect(redactComment(by, DROP)).toEqual({ ...by, from: { userId: 'bob' } })
  const odd = comment({ userId: 'bob' }, { commentText: 7 })
  expect(redactComment(odd, ERASED)).toEqual(odd)
})

test('in a row of a table the column says whether it holds words', () => {
  expect(
    redactRow({ comment_text: 'ann', author_user_id: 'ann', rest: { by: 'ann' } }, ERASED),
  ).toEqual({ comment_text: 'ann', author_user_id: ANN, rest: { by: ANN } })
})

test('names that lead to a member are redacted as in the record: by the one before, over arrays', () => {
  const by = pseudonymOf(SALT, '42')
  const erasure = { organizationId: null, pseudonym: by, emailHashes: [], nameHashes: [] }
  const redaction = { ...ERASED, erased: erasedIn(SALT, [erasure], 'org') }
  const path = (...names: string[]) => redactRow({ path: names }, redaction)['path']
  expect(path('readBy', '42', 'at')).toEqual(['readBy', by, 'at'])
  expect(path('owners', '[]', '42')).toEqual(['owners', '[]', by])
  expect(path('42', 'months', '42')).toEqual(['42', 'months', '42'])
})

test('without unknown members just the documented ones are left, in the author too', () => {
  const by = comment({ userId: 'bob', name: 'B', plan: 'x' }, { reactions: [1] })
  expect(redactComment(by, BARE)).toEqual(comment({ userId: 'bob', name: 'B' }))
  expect(redactUser({ userId: 'bob', plan: 'x' }, BARE)).toStrictEqual({ userId: 'bob' })
})

test('what is no object is rejected as what it is, but for what may not be stored', () => {
  for (const item of [null, 7, 'text', [], undefined]) {
    expect(redactComment(item, ERASED)).toEqual(item)
    expect(redactUser(item, DROP)).toEqual(item)
  }
  expect(redactUser('bob@x.example', DROP)).toBeNull()
  expect(redactComment({ commentId: 'bob@x.example', from: 'bob@x.example' }, DROP)).toEqual({})
  const odd = { commentId: { x: 'bob@x.example' }, from: { userId: { x: 'bob@x.example' } } }
  expect(redactComment(odd, DROP)).toEqual({
    commentId: {},
    from: { userId: {} },
  })
})

test('a member named __proto__ is a member like any other', () => {
  const item = JSON.parse('{"userId":"bob","__proto__":{"email":"b@x.example","a":1}}')
  expect(JSON.stringify(redactUser(item, DROP))).toBe('{"userId":"bob","__proto__":{"a":1}}')
})

test('the text of a record keeps every digit, and of two members with one name the last', () => {
  const text = '{"userId":"bob","n":12345678901234567890.10,"email":"b@x.example","m":1,"m":2}'
  expect(redactText(text, (item) => redactUser(item, DROP))).toBe(
    '{"userId":"bob","n":12345678901234567890.10,"m":2}',
  )
  const nested = (depth: number) => `{"x":${'['.repeat(depth)}${']'.repeat(depth)}}`
  expect(redactText(nested(5000), (item) => item)).toBe(nested(101))
})

test('an erasure narrowed to an organization holds there only', () => {
  const one = [{ organizationId: 'org', pseudonym: ANN, emailHashes: [], nameHashes: [] }]
  expect(erasedIn(SALT, one, 'org')?.pseudonymOf('ann')).toBe(ANN)
  expect(erasedIn(SALT, one, 'other')).toBe(null)
  expect(erasedIn(SALT, one, 'org')?.pseudonymOf('bob')).toBe(null)
})
