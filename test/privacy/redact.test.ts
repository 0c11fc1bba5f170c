import { describe, expect, test } from 'vitest'
import { redactText } from '../../src/core/sync/record/received.ts'
import {
  emailPseudonymOf,
  erasedIn,
  hashEmail,
  hashName,
  pseudonymOf,
} from '../../src/features/privacy/people.ts'
import { redactComment, redactRow, redactUser } from '../../src/features/privacy/redact.ts'
import type { Redaction } from '../../src/features/privacy/redact.ts'
import { RulesKeeper } from '../../src/features/privacy/rules.ts'
import { answeringTables } from '../helpers/answering-tables.ts'

const SALT = Buffer.from('a salt of a database')

interface Person {
  readonly userId?: string
  readonly emails?: readonly string[]
  readonly names?: readonly string[]
}

function erasureOf({ userId, emails = [], names = [] }: Person, organizationId?: string) {
  return {
    organizationId: organizationId ?? null,
    pseudonym: userId === undefined ? 'erased:' : pseudonymOf(SALT, userId),
    emailHashes: emails.map((email) => hashEmail(SALT, email)),
    nameHashes: names.map((name) => hashName(SALT, name)),
  }
}

/** Redacts these erased people. */
function erasing(...people: Person[]): Redaction {
  const erasures = people.map((person) => erasureOf(person))
  return { email: null, keepsUnknown: true, erased: erasedIn(SALT, erasures, 'org') }
}

const ADDRESS = 'W.Zzyzx+a_b@unlisted.example'
const HASH = emailPseudonymOf(SALT, ADDRESS)
const ID = 'user-17'
const PSEUDONYM = pseudonymOf(SALT, ID)
const NAME = 'Wilhelmine "Zzyzx" Ürgens'
const PERSON = erasing({ userId: ID, emails: [ADDRESS], names: [NAME] })
const DROP: Redaction = { email: () => null, keepsUnknown: true, erased: null }
const BOB = { commentId: 42, from: { userId: 'bob' } }

function expectMembers(of: object, redacted: object, redaction = PERSON): void {
  expect(redactComment({ ...BOB, ...of }, redaction)).toEqual({ ...BOB, ...redacted })
}

test('pseudonyms and hashes are the same in every version, because databases contain them', () => {
  expect([
    pseudonymOf(SALT, 'ann'),
    hashEmail(SALT, 'ann@x.example'),
    emailPseudonymOf(SALT, 'ann@x.example'),
    hashName(SALT, 'Ann Bright'),
  ]).toEqual([
    'erased:d12d61e7f1a032dd8261e7c623113b8b',
    'hmac:442aad9074ce2452191876740edee960',
    'erased:442aad9074ce2452191876740edee960',
    'hmac:bfaa1330ed2e306c06319190e1c74e19',
  ])
  const [id, email, name] = [pseudonymOf, hashEmail, hashName]
  const digits = [id, email, name].map((hashOf) => hashOf(SALT, 'ann').slice(-32))
  expect(new Set(digits).size).toBe(3)
  expect(id(SALT, 'Ann')).not.toBe(id(SALT, 'ann'))
  expect(id(Buffer.from('another salt'), 'ann')).not.toBe(id(SALT, 'ann'))
  const hash = email(SALT, 'ann@x.example')
  expect(email(SALT, ' An\0n@X.example\n')).toBe(hash)
  expect(email(SALT, hash)).toBe(hash)
  for (const other of [`x${hash}`, `${hash}0`, hash.slice(0, -1), hash.toUpperCase()])
    expect(email(SALT, other)).not.toBe(other)
  expect(name(SALT, ' ZOE\u0308/o neil.')).toBe(name(SALT, 'Zoë O’Neil'))
  expect(name(SALT, 'ab c')).not.toBe(name(SALT, 'a bc'))
})

test('an erasure of one organization applies to that organization only', () => {
  const ann = erasureOf({ userId: 'ann', emails: ['ann@x.example'], names: ['Ann'] }, 'o')
  const erased = erasedIn(SALT, [ann, erasureOf({ userId: 'cid' }, 'p')], 'o')
  for (let n = 0; n < 2; n += 1) {
    expect(erased?.pseudonymOf('ann')).toBe(pseudonymOf(SALT, 'ann'))
    expect(erased?.pseudonymOfEmail('ann@x.example')).toMatch(/^erased:/)
    expect([erased?.pseudonymOf('cid'), erased?.pseudonymOfEmail('cid@x.example')]).toEqual([
      null,
      null,
    ])
  }
  expect([erased?.hasName('ann'), erased?.hasName('cid')]).toEqual([true, false])
  expect(erasedIn(SALT, [ann], 'other')).toBeNull()
})

const each = (text: string, write: (character: string, place: number) => string) =>
  [...text].map(write).join('')
const hex = (character: string) => character.charCodeAt(0).toString(16)

test.each([
  ['plain', ADDRESS],
  ['in capitals', ADDRESS.toUpperCase()],
  ['by encodeURIComponent', encodeURIComponent(ADDRESS)],
  [
    'with some characters percent-encoded',
    each(ADDRESS, (c, i) => (i % 2 ? c : `%${hex(c).toUpperCase()}`)),
  ],
  ['with NULs, which are not stored', each(ADDRESS, (c) => `${c}\0`)],
])('an address is replaced everywhere: %s', (_way, written) => {
  const of = (address: string) => ({
    commentText: `Ask ${address}, please`,
    commentHtml: `<a href="mailto:${address}">x</a>`,
    x: { notifyEmails: [address], link: `https://x.example/?to=${address}&n=1` },
    votes: { [address]: 1, 'x@y.example': 2 },
  })
  expectMembers(of(written), of(HASH))
})

test.each([
  `('A'), _A_. **A** |A|`,
  '联系A谢谢你们',
  '@all: write to A',
  'x@y.example;A,z@y.example',
  '%0a{}%20x%2520 or %3C{}%3e or A',
  'xmpp://A/x',
])('an address in %j is replaced', (text) => {
  const commentText = text.replaceAll('A', ADDRESS).replaceAll('{}', encodeURIComponent(ADDRESS))
  expectMembers({ commentText }, { commentText: text.replaceAll(/A|{}/g, HASH) })
})

test.each([
  `a.${ADDRESS} x${ADDRESS} a_b@unlisted.example`,
  `${ADDRESS}.com W.Zzyzx+a_b@very.unlisted.example`,
  `o'${ADDRESS} ${encodeURIComponent(`x.${ADDRESS}`)}`,
  'https://x.example/%zz?x=@&y=%C3%28',
])('an address of another person stays: %s', (text) => {
  const of = { commentText: text, x: text }
  expectMembers(of, of)
})

test('an address in another script is compared as a whole', () => {
  const person = erasing({ emails: ['明@x.example', 'n/a'] })
  const of = { commentText: '小明@x.example', x: 'n/a' }
  expectMembers(of, of, person)
  const commentText = emailPseudonymOf(SALT, '明@x.example')
  expectMembers({ commentText: '明@x.example' }, { commentText }, person)
})

describe('an id is replaced', () => {
  const long = 'a1'.repeat(512)
  test.each<[id: string, of: object, redacted: (pseudonym: string) => object]>([
    [ID, { x: ID, readBy: [ID, 'user-18'] }, (it) => ({ x: it, readBy: [it, 'user-18'] })],
    [
      ID,
      { readBy: { [ID]: 1, 'user-18': 2, '\0user-17': 3 } },
      (it) => ({ readBy: { [it]: 3, 'user-18': 2 } }),
    ],
    [
      ID,
      { commentText: `See /u/${ID}#x, www.x.example/${ID}.`, x: `https://x.example/u/${ID}/a` },
      (it) => ({
        commentText: `See /u/${it}#x, www.x.example/${it}.`,
        x: `https://x.example/u/${it}/a`,
      }),
    ],
    [ID, { link: 'x.html?by=user%2d17&x=1' }, (it) => ({ link: `x.html?by=${it}&x=1` })],
    ['auth0|5 f/7', { x: '/u/auth0%7C5%20f%2F7?x' }, (it) => ({ x: `/u/${it}?x` })],
    ['ann', { x: 'ann' }, (it) => ({ x: it })],
    [long, { x: long }, (it) => ({ x: it })],
    ['ab', { readBy: ['ab'], x: 'ab' }, (it) => ({ readBy: [it], x: 'ab' })],
    [
      '42',
      {
        assigneeId: 42,
        readBy: ['42', 42, '43'],
        seen_by: { 42: '2026-01-01' },
        author: { id: 42, name: 'May' },
        reactions: [{ userId: 42, emoji: 'x' }],
        watchers: [{ key: '42' }, { valid: '42', idle: 42 }],
      },
      (it) => ({
        assigneeId: it,
        readBy: [it, it, '43'],
        seen_by: { [it]: '2026-01-01' },
        author: { id: it },
        reactions: [{ userId: it }],
        watchers: [{ key: it }, { valid: '42', idle: 42 }],
      }),
    ],
  ])('%.20s from %j', (id, of, redacted) => {
    expectMembers(of, redacted(pseudonymOf(SALT, id)), erasing({ userId: id }))
  })
})

const ENCODED = `{"userId":"${ID}","to":"${ADDRESS.replace('@', String.raw`\u0040`)}"}`

test.each<[person: Person, of: object]>([
  [{ userId: 'ann' }, { commentText: 'ann', x: 'see ann, "ann" and/ann' }],
  [{ userId: ID }, { commentText: `See ${ID}, "${ID}"`, x: `https://x.example/a-${ID}?x=${ID}-b` }],
  [{ userId: 'a1'.repeat(513) }, { x: 'a1'.repeat(513) }],
  [{ userId: '1234567' }, { x: '1234567', n: 1.5, link: '/users/1234567?userId=1234567' }],
  [{ userId: '1.5' }, { x: '1.5' }],
  [
    { userId: ID, emails: [ADDRESS] },
    {
      twice: encodeURIComponent(encodeURIComponent(ADDRESS)),
      html: ADDRESS.replace('@', '&#64;'),
      json: ENCODED,
    },
  ],
  [
    { userId: '42', names: ['May'], emails: ['may@x.example'] },
    {
      commentText:
        'In May 42 of 42 pages: "42", May 42nd, #42, user42@x.example, anna.may@x.example',
      status: '42',
      type: 'May',
      lastUpdated: '2026-05-04T02:42:42.042Z',
      pages: ['42', 42],
      documentId: '42',
      id: 42,
      anchor: { id: '42', name: 'May' },
      months: { May: 42, 42: 'May' },
      link: 'https://x.example/documents/42/pages/42?page=42#42',
      tagged: [{ userId: '43', name: 'May', email: 'may@y.example', level: '42' }],
    },
  ],
])('of %j nothing is replaced in %j', (person, of) => {
  expectMembers(of, of, erasing(person))
})

const JSON_COLUMN = `{"from":{"userId":"bob"},"to":"${ADDRESS.replace('@', String.raw`\u0040`)}","by":"${ID}","n":1.0`
const JSON_REDACTED = `{"from":{"userId":"bob"},"to":"${HASH}","by":"${PSEUDONYM}","n":1.0`

test.each<[row: object, redacted?: object]>([
  [{ record: `${JSON_COLUMN}}` }, { record: `${JSON_REDACTED}}` }],
  [{ record: `${JSON_COLUMN},"x":"to ${ADDRESS}` }, { record: `${JSON_REDACTED},"x":"to ${HASH}` }],
  [{ record: '{ "userId": "bob" }', data: '[odd' }],
  [
    { comment_text: ID, author_user_id: ID, rest: { by: ID } },
    { comment_text: ID, author_user_id: PSEUDONYM, rest: { by: PSEUDONYM } },
  ],
  [{ path: ['readBy', ID, 'at'] }, { path: ['readBy', PSEUDONYM, 'at'] }],
])('a row of a table: %j', (row, redacted = row) => {
  expect(redactRow(row, PERSON)).toEqual(redacted)
})

test('a path to a member is redacted by the name before, over arrays', () => {
  const by = pseudonymOf(SALT, '42')
  const path = (...names: string[]) => redactRow({ path: names }, erasing({ userId: '42' }))['path']
  expect(path('owners', '[]', '42')).toEqual(['owners', '[]', by])
  expect(path('42', 'months', '42')).toEqual(['42', 'months', '42'])
})

describe('a name is replaced as a whole value beside an id or address of the person', () => {
  test.each<[object, object?]>([
    [
      { assignee: { assigneeEmail: ADDRESS, assigneeName: NAME, text: `Ask ${NAME}` } },
      { assignee: { assigneeEmail: HASH, assigneeName: 'erased', text: `Ask ${NAME}` } },
    ],
    [
      { tags: [{ text: '@wilhelmine zzyzx ürgens', contact: { userId: ID, name: NAME } }] },
      { tags: [{ text: 'erased', contact: { userId: PSEUDONYM } }] },
    ],
    [
      { who: [ID, 'user-18'], names: [NAME, 'Bob'] },
      { who: [PSEUDONYM, 'user-18'], names: ['erased', 'Bob'] },
    ],
    [
      { x: { [ID]: 1, name: NAME }, title: NAME },
      { x: { [PSEUDONYM]: 1, name: 'erased' }, title: NAME },
    ],
    [
      { readers: [{ userId: ID }], status: NAME, title: NAME },
      { readers: [{ userId: PSEUDONYM }], status: NAME, title: NAME },
    ],
    [{ x: { id: ID, name: NAME, size: 1 } }, { x: { id: PSEUDONYM, name: 'erased', size: 1 } }],
    [{ x: { id: 'doc-1', email: ADDRESS } }, { x: {} }],
    [{ commentText: NAME, author: { title: NAME } }],
    [{ x: { email: 'bob@x.example', name: 'Bob' }, title: NAME }],
    [{ x: 'erased:draft', title: NAME }],
    [
      { commentText: ADDRESS, title: NAME },
      { commentText: HASH, title: NAME },
    ],
    [
      { by: ID, status: NAME, title: NAME },
      { by: PSEUDONYM, status: NAME, title: 'erased' },
    ],
    [
      { to: hashEmail(SALT, ADDRESS), id: { id: ` ${ADDRESS} ` } },
      { to: HASH, id: { id: HASH } },
    ],
    [
      { replies: [{ commentId: 7, commentText: 'mine', from: { userId: ID, name: 'W' } }] },
      { replies: [{ commentId: 7, from: { userId: PSEUDONYM } }] },
    ],
  ])('%j', (of, redacted = of) => {
    expectMembers(of, redacted)
  })
})

const STATE = {
  commentId: 7,
  lastUpdated: '2026-01-02T03:04:05.678Z',
  status: 'added',
  type: 'text',
}

test.each<[of: object, redacted: object]>([
  [
    {
      ...STATE,
      commentText: 'mine',
      commentHtml: '<b>',
      attachments: ['a'],
      from: { userId: ID, name: 'W' },
    },
    { ...STATE, from: { userId: PSEUDONYM } },
  ],
  [
    { ...STATE, from: { id: ID } },
    { ...STATE, from: { id: PSEUDONYM } },
  ],
  // A state that is no text may hold words.
  [
    { ...STATE, status: { by: NAME }, type: 3, lastUpdated: [NAME], from: { userId: ID } },
    { commentId: 7, from: { userId: PSEUDONYM } },
  ],
  [
    { ...STATE, commentText: 'mine', from: { name: 'W', email: ` ${ADDRESS.toUpperCase()} ` } },
    STATE,
  ],
  [
    { ...STATE, commentText: 'W', from: { name: NAME } },
    { ...STATE, commentText: 'W', from: { name: NAME } },
  ],
])('of a comment by the person its place, time and state stay: %j', (of, redacted) => {
  expect(redactComment(of, PERSON)).toEqual(redacted)
})

test.each<[of: object, redacted?: object]>([
  [{ userId: ID, name: 'W', isAdmin: true }, { userId: PSEUDONYM }],
  [{ userId: 'bob', name: 'Bob', email: 'bob@x.example', tags: [1, null, { a: true }] }],
  // The person under another id.
  [
    { userId: 'user-99', name: 'Wilhelmine Zzyzx Ürgens', email: ADDRESS, plan: 'x' },
    { userId: 'user-99', name: 'erased', email: HASH, plan: 'x' },
  ],
])('of a user: %j', (of, redacted = of) => {
  expect(redactUser(of, PERSON)).toEqual(redacted)
})

test('redacting again changes nothing, and one person after the other equals both at once', () => {
  const people = [
    { userId: ID, emails: [ADDRESS], names: ['Wilhelmine Ürgens'] },
    { userId: 'user-18', emails: ['b@x.example'], names: ['Bob Bright'] },
  ] as const
  const record = {
    commentId: 1,
    commentText: `b@x.example ${ADDRESS}`,
    from: { userId: 'c', email: 'b@x.example', name: 'Bob Bright' },
    both: { a: ADDRESS, b: 'user-18', names: ['Bob Bright', 'Wilhelmine Ürgens'] },
  }
  const once = redactComment(record, erasing(...people))
  expect(redactComment(once, erasing(...people))).toEqual(once)
  const first = redactComment(record, erasing(people[0]))
  expect(redactComment(first, erasing(people[1]))).toEqual(once)
})

test('PRIVACY_EMAIL finds addresses by the name of the member and by their form', () => {
  const user = {
    userId: 'ann@x.example',
    name: 'ann@x.example',
    email: 'ann@x.example',
    workEmail: 'no address',
    'e-mail-address': 17,
    contact: { home: 'ann@home.example', phone: '1' },
    aliases: ['ann@y.example', 'ann'],
    email_verified: true,
    lastEmail: null,
    owner: { email: 'ann@x.example' },
    notes: ['to b@x.example', 'b@x.example is it', 'b@..'],
  }
  expect(redactUser(user, DROP)).toEqual({
    userId: 'ann@x.example',
    contact: { phone: '1' },
    aliases: ['ann'],
    email_verified: true,
    lastEmail: null,
    owner: {},
    notes: ['to b@x.example', 'b@x.example is it', 'b@..'],
  })
  const comment = { ...STATE, commentText: 'x@y.example', commentHtml: 7 }
  const from = { userId: 'bob' }
  expect(redactComment({ ...comment, from: { ...from, email: 'b@x.example' } }, DROP)).toEqual({
    ...comment,
    from,
  })
})

test('with PRIVACY_EMAIL too, pseudonyms stay and addresses of others are hashed or left out', () => {
  const user = {
    userId: 'bob',
    email: 'bob@x.example',
    workEmail: 'none',
    oldEmail: ADDRESS,
    replyEmail: `W <${ADDRESS}>`,
    home: { phone: 'bob@x.example' },
  }
  const erased = { userId: 'bob', oldEmail: HASH, replyEmail: `W <${HASH}>` }
  const hash = (email: string) => hashEmail(SALT, email)
  expect(redactUser(user, { ...PERSON, email: hash })).toEqual({
    ...erased,
    email: hash('bob@x.example'),
    workEmail: hash('none'),
    home: { phone: hash('bob@x.example') },
  })
  expect(redactUser(user, { ...PERSON, email: () => null })).toEqual({ ...erased, home: {} })
  expect(redactUser(erased, { ...PERSON, email: hash })).toEqual(erased)
})

test('an item that is no object is redacted as a value', () => {
  for (const item of [null, 7, 'text', [], undefined]) {
    expect(redactComment(item, PERSON)).toEqual(item)
    expect(redactUser(item, DROP)).toEqual(item)
  }
  expect(redactUser('bob@x.example', DROP)).toBeNull()
  expect(redactComment({ commentId: 'bob@x.example', from: 'bob@x.example' }, DROP)).toEqual({})
  const odd = { commentId: { x: 'bob@x.example' }, from: { userId: { x: 'bob@x.example' } } }
  expect(redactComment(odd, DROP)).toEqual({ commentId: {}, from: { userId: {} } })
})

test('JSON keeps a member __proto__, every digit, and of two members with one name the last', () => {
  const redacted = (text: string) => redactText(text, (item) => redactUser(item, DROP))
  expect(redacted('{"userId":"bob","__proto__":{"email":"b@x.example","a":1}}')).toBe(
    '{"userId":"bob","__proto__":{"a":1}}',
  )
  expect(
    redacted('{"userId":"bob","n":12345678901234567890.10,"email":"b@x.example","m":1,"m":2}'),
  ).toBe('{"userId":"bob","n":12345678901234567890.10,"m":2}')
  const nested = (depth: number) => `{"x":${'['.repeat(depth)}${']'.repeat(depth)}}`
  expect(redacted(nested(5000))).toBe(nested(101))
})

test('rules read erasures only if there is a new one, and empty members that are nested too deep', async () => {
  const rowOf = (erasureId: number, userId: string, organizationId?: string) => {
    const { pseudonym } = erasureOf({ userId }, organizationId)
    return [erasureId, organizationId ?? null, pseudonym, [], []]
  }
  const erasures = [rowOf(1, 'ann', 'p')]
  const { client, asked } = answeringTables({
    'privacy/erasures': erasures,
    'privacy/salt': [[SALT]],
  })
  const keeper = new RulesKeeper(client as never, { email: 'keep', raw: 'keep' })
  const of = async (lastErasure: number | null) => ({
    rules: await keeper.of({ lastErasure, writtenMember: 'a.b', reportTimeZone: 'UTC' }),
    reads: asked.splice(0).map(([name]) => name),
  })
  const none = await of(null)
  expect([none.rules.redact('p'), none.rules.writtenPath, none.reads]).toEqual([
    null,
    ['a', 'b'],
    [],
  ])
  const first = await of(1)
  expect(first.reads).toEqual(['privacy/erasures', 'privacy/salt'])
  expect(first.rules.redact('o')).toBeNull()
  const ann = { userId: pseudonymOf(SALT, 'ann') }
  expect(first.rules.redact('p')?.users({ userId: 'ann' })).toEqual(ann)
  expect(await of(1)).toEqual({ rules: first.rules, reads: [] })
  erasures.push(rowOf(2, 'bob'))
  const { rules } = await of(2)
  const nested = (depth: number, inside = '1') =>
    JSON.parse('[['.repeat(depth) + inside + ']]'.repeat(depth))
  const comment = { commentId: 1, x: nested(45), y: { a: nested(2500), b: 2 } }
  expect(rules.redact('o')?.comments(comment)).toMatchObject({ x: nested(45), y: { b: 2 } })
  expect(
    rules.redact('o')?.comments({ x: JSON.parse('['.repeat(5000) + ']'.repeat(5000)) }),
  ).toEqual({
    x: JSON.parse('['.repeat(101) + ']'.repeat(101)),
  })
  expect((await keeper.now()).redact('o')).not.toBeNull()
  const hashing = new RulesKeeper(client as never, { email: 'hash', raw: 'keep' })
  const blank = { userId: 'u', email: ' ' }
  expect((await hashing.now()).redact('o')?.users(blank)).toEqual(blank)
})

test.each(['a%41&b', '@', '.', '&', '?x=', '%', '\\', '"42"', 'a@b.', ' @x'])(
  'redacting takes linear time: a text of %j a million times over',
  (part) => {
    const long = part.repeat(1_000_000 / part.length)
    const comment = { commentId: 1, commentText: `${long}@${long}`, x: long, y: [`a@${long} `] }
    const redaction = { ...PERSON, email: () => 'x' }
    expect(redactComment(comment, redaction)).toEqual({ ...comment, x: expect.anything() })
  },
)
