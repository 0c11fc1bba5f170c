import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { statementName } from '../../src/core/database/statement.ts'
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

/** What a claim sees where all is stored. */
const PLAIN = {
  lastErasure: null,
  writtenMember: null,
  reportTimeZone: 'UTC',
  privacyEmail: 'keep',
  privacyRaw: 'keep',
  privacyExclude: null,
} as const
const SALT = Buffer.from('a salt of a database')

interface Person {
  readonly userId?: string
  readonly emails?: readonly string[]
  readonly names?: readonly string[]
}

/** Redacts these erased people. */
function erasing(...people: Person[]): Redaction {
  const erasures = people.map(({ userId, emails = [], names = [] }) => ({
    organizationId: null,
    pseudonym: userId === undefined ? 'erased:' : pseudonymOf(SALT, userId),
    emailHashes: emails.map((email) => hashEmail(SALT, email)),
    nameHashes: names.map((name) => hashName(SALT, name)),
  }))
  return { email: null, keepsUnknown: true, erased: erasedIn(SALT, erasures, 'org') }
}

const ADDRESS = 'W.Zzyzx+a_b@unlisted.example'
const HASH = emailPseudonymOf(SALT, ADDRESS)
const ID = 'user-17'
const PSEUDONYM = pseudonymOf(SALT, ID)
const NAME = 'Wilhelmine "Zzyzx" Ürgens'
const BY_42 = pseudonymOf(SALT, '42')
const PERSON = erasing(
  { userId: ID, emails: [ADDRESS, '明@x.example'], names: [NAME] },
  { userId: '42' },
)
const DROP: Redaction = { email: () => null, keepsUnknown: true, erased: null }
const BOB = { commentId: 42, from: { userId: 'bob' } }

/** Expects how fields of a comment are redacted, and that redacting again changes nothing. */
function expectMembers(of: object, redacted: object, redaction = PERSON): void {
  const once = redactComment({ ...BOB, ...of }, redaction)
  expect(once).toEqual({ ...BOB, ...redacted })
  expect(redactComment(once, redaction)).toEqual(once)
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
  const digits = [pseudonymOf, hashEmail, hashName].map((hash) => hash(SALT, 'ann').slice(-32))
  expect(new Set(digits).size).toBe(3)
  expect(pseudonymOf(SALT, 'Ann')).not.toBe(pseudonymOf(SALT, 'ann'))
  expect(pseudonymOf(Buffer.from('another salt'), 'ann')).not.toBe(pseudonymOf(SALT, 'ann'))
  const hash = hashEmail(SALT, 'ann@x.example')
  for (const same of [' An\0n@X.example\n', hash]) expect(hashEmail(SALT, same)).toBe(hash)
  for (const other of [`x${hash}`, `${hash}0`, hash.slice(0, -1), hash.toUpperCase()])
    expect(hashEmail(SALT, other)).not.toBe(other)
  expect(hashName(SALT, ' ZOE\u0308/o neil.')).toBe(hashName(SALT, 'Zoë O’Neil'))
  expect(hashName(SALT, 'ab c')).not.toBe(hashName(SALT, 'a bc'))
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

const NFD = 'Änna@Bücher.example'.normalize('NFD')

test.each([
  ['Änna@Bücher.example', NFD],
  [NFD, 'ÄNNA@BÜCHER.example'],
  ['änna@xn--bcher-kva.example', 'Änna@Bücher.example'],
  ['anna@bücher.example', 'Anna@XN--BCHER-KVA.example'],
  ['anna@x.example', 'an\u00adna\u200b@x.ex\ufeffample'],
  ['anna@x.example', 'anna＠x．example'],
  ['anna@x.example', 'anna%EF%BC%A0x%EF%BC%8Eexample'],
  ['anna@x.example', 'an<wbr>na@x.example'],
  ['anna@x.example', '<b>an</b>na@<span class="hit">x</span>.example'],
  ['"a b"@x.example', '"A b"@x.example'],
])('an erased address %s is found as %s', (address, written) => {
  const redaction = erasing({ emails: [address] })
  const hash = emailPseudonymOf(SALT, address)
  const tags = written.match(/<[^>]*>/g) ?? []
  expectMembers(
    { commentText: `Ask ${written}, please`, x: written, y: 'joanna@x.example, user²@x.example' },
    {
      commentText: `Ask ${hash}${tags.join('')}, please`,
      x: tags.length > 0 ? hash + tags.join('') : hash,
      y: 'joanna@x.example, user²@x.example',
    },
    redaction,
  )
})

test('an address whose hash was stored before 0.1.0 is still found', () => {
  const stored = createHmac('sha256', SALT).update('email:änna@bücher.example').digest('hex')
  const hash = stored.slice(0, 32)
  const erasure = { organizationId: null, pseudonym: 'erased:', nameHashes: [] }
  const erased = erasedIn(SALT, [{ ...erasure, emailHashes: [`hmac:${hash}`] }], 'org')
  expect(erased?.pseudonymOfEmail('Änna@Bücher.example')).toBe(`erased:${hash}`)
  expect(erased?.pseudonymOfEmail(`hmac:${hash}`)).toBe(`erased:${hash}`)
  expect(erased?.pseudonymOfEmail('bob@x.example')).toBeNull()
})

test.each([
  '<p><b>Bob</b><b>A</b></p>',
  '<div>Bob</div><div>A</div>',
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
  '小明@x.example',
  'https://x.example/%zz?x=@&y=%C3%28',
])('an address of another person stays: %s', (text) => {
  const of = { commentText: text, x: text }
  expectMembers(of, of)
})

const LONG = 'a1'.repeat(512)

test.each<[id: string, of: (id: unknown) => object, written?: unknown]>([
  [ID, (id) => ({ x: id, readBy: [id, 'user-18'], votes: { [`${id}`]: 1, 'user-18': 2 } })],
  [ID, (id) => ({ readBy: { [`${id}`]: 1 } }), '\0user-17'],
  [ID, (id) => ({ commentText: `See /u/${id}#x, www.x.example/${id}.`, x: `https://x/u/${id}/a` })],
  [ID, (id) => ({ link: `x.html?by=${id}&x=1` }), 'user%2d17'],
  ['auth0|5 f/7', (id) => ({ x: `/u/${id}?x` }), 'auth0%7C5%20f%2F7'],
  ['ann', (id) => ({ x: id })],
  [LONG, (id) => ({ x: id })],
  ['ab', (id) => ({ readBy: [id], x: 'ab' })],
  [ID, (id) => ({ commentHtml: `<span class="x" data-user-id="${id}">Bob</span>` })],
  [ID, (id) => ({ commentHtml: `<i data-mentions='user-18, ${id}' title="${ID}">x</i>` })],
  [ID, (id) => ({ commentText: `See urn:user:${id}, users/${id}/x or assignee=${id}.` })],
  [ID, (id) => ({ x: `user-18,${id};user-19|${id}`, y: [`a\n${id}`] })],
  ['1234567', (id) => ({ watchers: `1, ${id}`, commentHtml: `<i data-user-id="${id}">x</i>` })],
  ...['42', 42].map((written): [string, (id: unknown) => object, unknown] => [
    '42',
    (id) => ({
      assigneeId: id,
      readBy: [id, '43'],
      seen_by: { [`${id}`]: '2026-01-01' },
      author: { id },
      watchers: [{ userId: id }, { key: `${id}` }, { valid: '42', idle: 42 }],
    }),
    written,
  ]),
])('an id %.20s is replaced', (id, of, written = id) => {
  expectMembers(of(written), of(pseudonymOf(SALT, id)), erasing({ userId: id }))
})

const ENCODED = `{"userId":"${ID}","to":"${ADDRESS.replace('@', String.raw`\u0040`)}"}`

test.each<[person: Person, of: object]>([
  [{ userId: 'ann' }, { commentText: 'ann', commentHtml: 'ann', x: 'see ann, "ann" and/ann' }],
  [{ userId: ID }, { commentText: `See ${ID}, "${ID}"`, x: `https://x.example/a-${ID}?x=${ID}-b` }],
  [{ userId: `${LONG}a` }, { x: `${LONG}a` }],
  [{ userId: 'main' }, { commentHtml: '<i class="main" data-user="main">', x: 'user:main, main' }],
  [{ userId: ID }, { commentText: `ask ${ID}, ${ID}`, x: `title="${ID}" size:${ID}` }],
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
  [
    { reason: `key nul ${ADDRESS.replace('.', '\\u0000.')} cannot be stored` },
    { reason: `key nul ${HASH} cannot be stored` },
  ],
  [{ error_message: `users: ${ID}, user-18` }, { error_message: `users: ${PSEUDONYM}, user-18` }],
  [{ error_message: `no user:${ID}` }, { error_message: `no user:${PSEUDONYM}` }],
  [{ path: ['readBy', '[]', ID, 'at'] }, { path: ['readBy', '[]', PSEUDONYM, 'at'] }],
  [{ path: ['owners', '[]', '42', '42'] }, { path: ['owners', '[]', BY_42, '42'] }],
])('a row of a table: %j', (row, redacted = row) => {
  expect(redactRow(row, PERSON)).toEqual(redacted)
})

type Of = (id: string, email: string, name: string) => object

test.each<[of: Of]>([
  [(_, email, name) => ({ x: { email2: email, assigneeName: name, text: `Ask ${NAME}` } })],
  [(id, _, name) => ({ who: [id, 'user-18'], names: [name, 'Bob'] })],
  [(id, _, name) => ({ x: { [id]: 1, name }, title: NAME })],
  [(id) => ({ readers: [{ userId: id }], status: NAME, title: NAME })],
  [(id, _, name) => ({ x: { id, name, size: 1 } })],
  [() => ({ commentText: NAME, author: { title: NAME } })],
  [() => ({ x: { email: 'bob@x.example', name: 'Bob' }, title: NAME })],
  [() => ({ x: 'erased:draft', title: NAME })],
  [(_, email) => ({ commentText: email, title: NAME })],
  [(id, _, name) => ({ by: id, status: NAME, title: name })],
])('a name is replaced as a whole value beside an id or address: %s', (of) => {
  expectMembers(of(ID, ADDRESS, NAME), of(PSEUDONYM, HASH, 'erased'))
})

test.each<[of: object, redacted: object]>([
  [
    { tags: [{ text: '@wilhelmine zzyzx ürgens', contact: { userId: ID, name: NAME } }] },
    { tags: [{ text: 'erased', contact: { userId: PSEUDONYM } }] },
  ],
  [{ author: { id: ID, name: 'W' } }, { author: { id: PSEUDONYM } }],
  [{ x: { id: 'doc-1', email: ADDRESS } }, { x: {} }],
  [
    { to: hashEmail(SALT, ADDRESS), id: { id: ` ${ADDRESS} ` } },
    { to: HASH, id: { id: HASH } },
  ],
  [
    { replies: [{ commentId: 7, commentText: 'mine', from: { userId: ID, name: 'W' } }] },
    { replies: [{ commentId: 7, from: { userId: PSEUDONYM } }] },
  ],
])('the object of the person is replaced: %j', expectMembers)

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
  [
    { ...STATE, status: `closed by ${ADDRESS}`, from: { userId: ID } },
    { ...STATE, status: `closed by ${HASH}`, from: { userId: PSEUDONYM } },
  ],
  // A state that is no text may hold words.
  [
    { ...STATE, status: { by: NAME }, type: 3, lastUpdated: [NAME], from: { userId: ID } },
    { commentId: 7, from: { userId: PSEUDONYM } },
  ],
  // So may an id that is no number.
  [
    { ...STATE, commentId: { text: 'mine', mail: ADDRESS }, from: { userId: ID } },
    { lastUpdated: STATE.lastUpdated, status: 'added', type: 'text', from: { userId: PSEUDONYM } },
  ],
  [{ commentId: ADDRESS, from: { userId: ID } }, { from: { userId: PSEUDONYM } }],
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
    notes: ['Bob <b@x.example>', 'pkg@1.2.3, @ann and b@..', '/?to=b@x.example&x=1'],
    odd: [' b@x.example ', 'b%40x.example', '"a b"@x.example', 'b＠x．example', 'kept'],
    seenBy: { 'b@x.example': 1, 'on b@x.example': 2, bob: 3 },
  }
  expect(redactUser(user, DROP)).toEqual({
    userId: 'ann@x.example',
    contact: { phone: '1' },
    aliases: ['ann'],
    email_verified: true,
    lastEmail: null,
    owner: {},
    notes: ['Bob <>', 'pkg@1.2.3, @ann and b@..', '/?to=&x=1'],
    odd: ['kept'],
    seenBy: { 'on ': 2, bob: 3 },
  })
  const hash = hashEmail(SALT, 'ann@x.example')
  const hashing: Redaction = { ...DROP, email: (email) => hashEmail(SALT, email) }
  const of = (ann: string) => ({ userId: 'u', x: [`Ann <${ann}>`, ann], seenBy: { [ann]: 1 } })
  expect(redactUser(of('Ann%40x.example'), hashing)).toEqual(of(hash))
  const comment = { ...STATE, commentText: 'x@y.example', commentHtml: 7 }
  const from = { userId: 'bob' }
  expect(redactComment({ ...comment, from: { ...from, email: 'b@x.example' } }, DROP)).toEqual({
    ...comment,
    from,
  })
})

test('with PRIVACY_EMAIL too, pseudonyms stay', () => {
  const user = {
    userId: 'bob',
    email: 'bob@x.example',
    oldEmail: ADDRESS,
    replyEmail: `W <${ADDRESS}>`,
  }
  const erased = { userId: 'bob', oldEmail: HASH, replyEmail: `W <${HASH}>` }
  const hashing = { ...PERSON, email: (email: string) => hashEmail(SALT, email) }
  const hashed = { ...erased, email: hashEmail(SALT, 'bob@x.example') }
  expect(redactUser(user, hashing)).toEqual(hashed)
  expect(redactUser(hashed, hashing)).toEqual(hashed)
  expect(redactUser(user, { ...PERSON, email: () => null })).toEqual(erased)
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
  const text = '{"userId":"bob","n":12345678901234567890.10,"email":"b@x.example","m":1,"m":2}'
  expect(redacted(text)).toBe('{"userId":"bob","n":12345678901234567890.10,"m":2}')
})

test('rules read erasures only if there is a new one, and empty fields that are nested too deep', async () => {
  const rowOf = (erasureId: number, userId: string, organizationId: string | null) => {
    return [erasureId, organizationId, pseudonymOf(SALT, userId), [], []]
  }
  const columns = 'erasure_id organization_id pseudonym email_hashes name_hashes'.split(' ')
  const erasures = [rowOf(1, 'ann', 'p')]
  const tables = new Map<string | null, { columns: string[]; rows: unknown[][] }>([
    ['privacy/erasures', { columns, rows: erasures }],
    ['privacy/salt', { columns: ['salt'], rows: [[SALT]] }],
  ])
  const asked: unknown[] = []
  const query = async ({ text }: { text: string }) => {
    const name = statementName(text)
    const table = tables.get(name)
    if (table === undefined) throw new Error(`${name} was asked`)
    asked.push(name)
    return { rows: table.rows, fields: table.columns.map((column) => ({ name: column })) }
  }
  const keeper = new RulesKeeper({ query } as never)
  const of = async (lastErasure: number | null) => {
    const rules = await keeper.of({ ...PLAIN, lastErasure, writtenMember: 'a.b' })
    return { rules, reads: asked.splice(0) }
  }
  expect(await of(null)).toMatchObject({ rules: { writtenPath: ['a', 'b'] }, reads: [] })
  const first = await of(1)
  expect(first.reads).toEqual(['privacy/erasures', 'privacy/salt'])
  expect(first.rules.redact('o')).toBeNull()
  const ann = { userId: pseudonymOf(SALT, 'ann') }
  expect(first.rules.redact('p')?.users({ userId: 'ann' })).toEqual(ann)
  expect(await of(1)).toEqual({ rules: first.rules, reads: [] })
  erasures.push(rowOf(2, 'bob', null))
  const { rules } = await of(2)
  const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
  const comment = { x: nested(90), y: { a: nested(5000), b: 2 }, z: nested(5000) }
  const read = { x: nested(90), y: { b: 2 }, z: nested(101) }
  expect(rules.redact('o')?.comments(comment)).toMatchObject(read)
  const hashing = await keeper.of({ ...PLAIN, privacyEmail: 'hash' })
  const blank = { userId: 'u', email: ' ' }
  expect(hashing.redact('o')?.users(blank)).toEqual(blank)
})

test.each([
  'a%41&b',
  '@',
  '.',
  '&',
  '?x=',
  '%',
  '\\',
  '"42"',
  'a@b.',
  ' @x',
  'é@',
  '<b>@',
  'user="',
  'a,',
])('redacting takes linear time: a text of %j a million times over', (part) => {
  const long = part.repeat(1_000_000 / part.length)
  const comment = { commentId: 1, commentText: `${long}@${long}`, x: long, y: [`a@${long} `] }
  const redaction = { ...PERSON, email: () => 'x' }
  const redacted = { ...comment, x: expect.anything(), y: expect.anything() }
  expect(redactComment(comment, redaction)).toEqual(redacted)
})
