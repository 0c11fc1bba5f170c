import { describe, expect, test } from 'vitest'
import {
  emailPseudonymOf,
  erasedIn,
  hashEmail,
  hashName,
  pseudonymOf,
} from '../../src/features/privacy/people.ts'
import { redactComment, redactRow, redactUser } from '../../src/features/privacy/redact.ts'
import type { Redaction } from '../../src/features/privacy/redact.ts'

const SALT = Buffer.from('a salt of a database')

/** Redacts as where these people are erased. */
function erasing(...people: { userId?: string; emails?: string[]; names?: string[] }[]): Redaction {
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
const PERSON = erasing({ userId: ID, emails: [ADDRESS], names: [NAME] })

/** Members of somebody else's comment. */
function members(of: object, redaction = PERSON): Record<string, unknown> {
  const redacted = redactComment({ commentId: 42, from: { userId: 'bob' }, ...of }, redaction)
  const { commentId, from, ...rest } = redacted as Record<string, unknown>
  expect({ commentId, from }).toEqual({ commentId: 42, from: { userId: 'bob' } })
  return rest
}

function words(commentText: string, redaction = PERSON): unknown {
  return members({ commentText }, redaction)['commentText']
}

const each = (text: string, write: (character: string, place: number) => string) =>
  [...text].map(write).join('')
const hex = (character: string) => character.charCodeAt(0).toString(16)
const WAYS: Record<string, string> = {
  'as it is': ADDRESS,
  'in capitals': ADDRESS.toUpperCase(),
  encodeURIComponent: encodeURIComponent(ADDRESS),
  'every other character percent-encoded, in capitals': each(ADDRESS, (c, i) =>
    i % 2 ? c : `%${hex(c).toUpperCase()}`,
  ),
  'with NULs, which are not stored': each(ADDRESS, (c) => `${c}\0`),
}

describe('an address goes', () => {
  test.each(Object.entries(WAYS))('%s', (_way, written) => {
    expect(words(`Ask ${written}, please`)).toBe(`Ask ${HASH}, please`)
    expect(members({ x: { notifyEmails: [written] } })).toEqual({ x: { notifyEmails: [HASH] } })
    expect(words(`<a href="mailto:${written}">x</a>`)).toBe(`<a href="mailto:${HASH}">x</a>`)
    expect(words(`https://x.example/?to=${written}&n=1`)).toBe(`https://x.example/?to=${HASH}&n=1`)
  })

  test.each([
    [`(${ADDRESS})`, `(${HASH})`],
    [`'${ADDRESS}'.`, `'${HASH}'.`],
    [`_${ADDRESS}_`, `_${HASH}_`],
    [`**${ADDRESS}**`, `**${HASH}**`],
    [`|${ADDRESS}|`, `|${HASH}|`],
    [`联系${ADDRESS}谢谢你们`, `联系${HASH}谢谢你们`],
    [`@all: write to ${ADDRESS}`, `@all: write to ${HASH}`],
    [`${encodeURIComponent(ADDRESS)} or ${ADDRESS}`, `${HASH} or ${HASH}`],
    [`x@y.example;${ADDRESS},z@y.example`, `x@y.example;${HASH},z@y.example`],
    [`%0A${encodeURIComponent(ADDRESS)}%20x%2520`, `%0A${HASH}%20x%2520`],
    [`%3C${encodeURIComponent(ADDRESS)}%3e`, `%3C${HASH}%3e`],
    [`xmpp://${ADDRESS}/x`, `xmpp://${HASH}/x`],
  ])('in %j', (text, redacted) => {
    expect(words(text)).toBe(redacted)
  })

  test('from the name of a member, and where it came hashed', () => {
    expect(members({ votes: { [ADDRESS]: 1, 'x@y.example': 2 } })).toEqual({
      votes: { [HASH]: 1, 'x@y.example': 2 },
    })
    expect(members({ to: hashEmail(SALT, ADDRESS), id: { id: ` ${ADDRESS} ` } })).toEqual({
      to: HASH,
      id: { id: HASH },
    })
  })

  test('of a user with another id: the address and the name, not the row', () => {
    const user = { userId: 'user-99', name: 'Wilhelmine Zzyzx Ürgens', email: ADDRESS, plan: 'x' }
    expect(redactUser(user, PERSON)).toEqual({
      userId: 'user-99',
      name: 'erased',
      email: HASH,
      plan: 'x',
    })
  })
})

describe('an address of somebody else stays', () => {
  test.each([
    'a.W.Zzyzx+a_b@unlisted.example',
    'xW.Zzyzx+a_b@unlisted.example',
    'a_b@unlisted.example',
    'W.Zzyzx+a_b@unlisted.example.com',
    'W.Zzyzx+a_b@very.unlisted.example',
    encodeURIComponent('x.W.Zzyzx+a_b@unlisted.example'),
    "o'W.Zzyzx+a_b@unlisted.example",
    'https://x.example/%zz?x=@&y=%C3%28',
  ])('%s', (text) => {
    expect(words(text)).toBe(text)
    expect(members({ x: text })).toEqual({ x: text })
  })

  test('though a part of it in one script is that of the person, who also had none once', () => {
    const person = erasing({ emails: ['明@x.example', 'n/a'] })
    const of = { commentText: '小明@x.example', x: 'n/a' }
    expect(members(of, person)).toEqual(of)
    expect(words('明@x.example', person)).toBe(emailPseudonymOf(SALT, '明@x.example'))
  })
})

describe('an id goes', () => {
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
      { link: `https://x.example/users/${ID}/a` },
      (it) => ({ link: `https://x.example/users/${it}/a` }),
    ],
    [
      ID,
      { commentText: `See /u/${ID}#x, www.x.example/${ID}.` },
      (it) => ({ commentText: `See /u/${it}#x, www.x.example/${it}.` }),
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
    expect(members(of, erasing({ userId: id }))).toEqual(redacted(pseudonymOf(SALT, id)))
  })
})

test.each<[id: string, of: object]>([
  ['ann', { commentText: 'ann', x: 'see ann, "ann" and/ann' }],
  [ID, { commentText: `See ${ID}, "${ID}"`, x: `https://x.example/a-${ID}?x=${ID}-b` }],
  ['a1'.repeat(513), { x: 'a1'.repeat(513) }],
  ['12345678901', { x: '12345678901', n: 1.5, link: '/users/12345678901?userId=12345678901' }],
  ['1.5', { x: '1.5' }],
])('an id that is a number, or is not the whole value, stays: %.20s in %j', (id, of) => {
  expect(members(of, erasing({ userId: id }))).toEqual(of)
})

test('encodings over encodings, HTML, escapes of JSON and JSON in a text are not read', () => {
  const of = {
    twice: encodeURIComponent(encodeURIComponent(ADDRESS)),
    html: ADDRESS.replace('@', '&#64;'),
    json: `{"userId":"${ID}","to":"${ADDRESS.replace('@', String.raw`\u0040`)}"}`,
  }
  expect(members(of)).toEqual(of)
})

test('a column that is JSON is redacted as JSON, also where it is cut off', () => {
  const record = `{"from":{"userId":"bob"},"to":"${ADDRESS.replace('@', String.raw`\u0040`)}","by":"${ID}","n":1.0`
  const redacted = `{"from":{"userId":"bob"},"to":"${HASH}","by":"${PSEUDONYM}","n":1.0`
  expect(redactRow({ record: `${record}}` }, PERSON)).toEqual({ record: `${redacted}}` })
  expect(redactRow({ record: `${record},"x":"to ${ADDRESS}` }, PERSON)).toEqual({
    record: `${redacted},"x":"to ${HASH}`,
  })
  const other = { record: '{ "userId": "bob" }', data: '[odd' }
  expect(redactRow(other, PERSON)).toEqual(other)
})

test('id 42 and the name May lose nothing of others', () => {
  const may = erasing({ userId: '42', names: ['May'], emails: ['may@x.example'] })
  const of = {
    commentText: 'In May 42 of 42 pages: "42", May 42nd, #42, user42@x.example, anna.may@x.example',
    commentHtml: '<p data-page="42">May &#52;2</p>',
    status: '42',
    type: 'May',
    lastUpdated: '2026-05-04T02:42:42.042Z',
    page: 42,
    pages: ['42', 42],
    documentId: '42',
    id: 42,
    anchor: { id: '42', name: 'May' },
    months: { May: 42, 42: 'May' },
    label: 'May',
    link: 'https://x.example/documents/42/pages/42?page=42#42',
    tagged: [{ userId: '43', name: 'May', email: 'may@y.example' }],
  }
  expect(members(of, may)).toEqual(of)
  const namesake = { userId: '43', name: 'May', email: 'may@y.example', level: '42' }
  expect(redactUser(namesake, may)).toEqual(namesake)
})

describe('a name goes as a whole value beside an id or address of the person, and stays elsewhere', () => {
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
  ])('%j', (of, redacted = of) => {
    expect(members(of)).toEqual(redacted)
  })
})

test('with PRIVACY_EMAIL too, the pseudonym of the erased stays and the addresses of others go', () => {
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

test('a comment by the person within somebody else’s loses its words', () => {
  const quoted = { commentId: 7, commentText: 'mine', from: { userId: ID, name: 'W' } }
  expect(members({ replies: [quoted] })).toEqual({
    replies: [{ commentId: 7, from: { userId: PSEUDONYM } }],
  })
})

test('redacting again changes nothing, and one person after the other is both at once', () => {
  const other = { userId: 'user-18', emails: ['b@x.example'], names: ['Bob Bright'] }
  const both = erasing({ userId: ID, emails: [ADDRESS], names: ['Wilhelmine Ürgens'] }, other)
  const record = {
    commentId: 1,
    commentText: `b@x.example ${ADDRESS}`,
    from: { userId: 'c', email: 'b@x.example', name: 'Bob Bright' },
    both: { a: ADDRESS, b: 'user-18', names: ['Bob Bright', 'Wilhelmine Ürgens'] },
  }
  const first = erasing({ userId: ID, emails: [ADDRESS], names: ['Wilhelmine Ürgens'] })
  const once = redactComment(record, both)
  expect(redactComment(once, both)).toEqual(once)
  expect(redactComment(redactComment(record, first), erasing(other))).toEqual(once)
})
