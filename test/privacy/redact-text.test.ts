import { describe, expect, test } from 'vitest'
import {
  emailPseudonymOf,
  erasedIn,
  hashEmail,
  hashName,
  pseudonymOf,
} from '../../src/features/privacy/people.ts'
import { redactComment, redactUser } from '../../src/features/privacy/redact.ts'
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
  'only the @ percent-encoded': ADDRESS.replace('@', '%40'),
  'every character percent-encoded': each(ADDRESS, (c) => `%${hex(c)}`),
  'every other one, in capitals': each(ADDRESS, (c, i) => (i % 2 ? c : `%${hex(c).toUpperCase()}`)),
  twice: encodeURIComponent(encodeURIComponent(ADDRESS)),
  'three times, every character': each(ADDRESS, (c) => `%2525${hex(c)}`),
  'named entities': ADDRESS.replace('@', '&commat;')
    .replaceAll('.', '&period;')
    .replace('_', '&lowbar;')
    .replace('+', '&plus;'),
  'decimal references': each(ADDRESS, (c) => `&#${c.charCodeAt(0)};`),
  'decimal ones with zeros, without semicolons': each(
    ADDRESS,
    (c) => `&#000${c.charCodeAt(0)}`,
  ).concat(';'),
  'hexadecimal references': each(ADDRESS, (c) => `&#x${hex(c)};`),
  'references encoded again': each(ADDRESS, (c) => `&amp;#x${hex(c)};`),
  'escapes of JSON': each(ADDRESS, (c) => `\\u00${hex(c)}`),
  'with NULs, which are not stored': each(ADDRESS, (c) => `${c}\0`),
  'a link with a reference in it': encodeURIComponent(ADDRESS.replace('@', '&#64;')),
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
    [`<${ADDRESS}>`, `<${HASH}>`],
    [`'${ADDRESS}'.`, `'${HASH}'.`],
    [`_${ADDRESS}_`, `_${HASH}_`],
    [`**${ADDRESS}**`, `**${HASH}**`],
    [`${ADDRESS}...`, `${HASH}...`],
    [`联系${ADDRESS}谢谢你们`, `联系${HASH}谢谢你们`],
    [`@all: write to ${ADDRESS}`, `@all: write to ${HASH}`],
    [`${encodeURIComponent(ADDRESS)} or ${ADDRESS}`, `${HASH} or ${HASH}`],
    [`x@y.example;${ADDRESS},z@y.example`, `x@y.example;${HASH},z@y.example`],
    [`&lt;${ADDRESS}&gt;`, `&lt;${HASH}&gt;`],
    [`%0A${encodeURIComponent(ADDRESS)}%20x`, `%0A${HASH}%20x`],
    [String.raw`{"a\n${ADDRESS}\n": 1`, String.raw`{"a\n${HASH}\n": 1`],
    [`xmpp://${ADDRESS}/x`, `xmpp://${HASH}/x`],
  ])('in %j', (text, redacted) => {
    expect(words(text)).toBe(redacted)
  })

  test('from the name of a member, from JSON within a text, and from what is no text', () => {
    expect(members({ votes: { [ADDRESS]: 1, 'x@y.example': 2 } })).toEqual({
      votes: { [HASH]: 1, 'x@y.example': 2 },
    })
    expect(members({ payload: '{"to":"w.zzyzx\\u002ba_b@unlisted.example","n":1.0}' })).toEqual({
      payload: `{"to":"${HASH}","n":1.0}`,
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
    'Zzyzx+a_b@unlisted.example',
    'a_b@unlisted.example',
    'W.Zzyzx+a_b@unlisted.example.com',
    'W.Zzyzx+a_b@very.unlisted.example',
    'W.Zzyzx@unlisted.example',
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
  test.each([
    [{ x: ID }, { x: PSEUDONYM }],
    [{ x: 'user%2D17' }, { x: PSEUDONYM }],
    [{ readBy: [ID, 'user-18'] }, { readBy: [PSEUDONYM, 'user-18'] }],
    [
      { readBy: { [ID]: true, 'user-18': true } },
      { readBy: { [PSEUDONYM]: true, 'user-18': true } },
    ],
    [
      { link: `https://x.example/users/${ID}/a` },
      { link: `https://x.example/users/${PSEUDONYM}/a` },
    ],
    [{ link: `/u/${ID}#x` }, { link: `/u/${PSEUDONYM}#x` }],
    [{ link: 'x.html?by=user%2d17&x=1' }, { link: `x.html?by=${PSEUDONYM}&x=1` }],
    [{ link: 'x.html?next=%2Fu%2Fuser-17%2F' }, { link: `x.html?next=%2Fu%2F${PSEUDONYM}%2F` }],
    [{ x: '{"userId":"user-17","name":"W"}' }, { x: `{"userId":"${PSEUDONYM}"}` }],
    [{ message: `User ${ID}: not found` }, { message: `User ${PSEUDONYM}: not found` }],
  ])('in %j', (of, redacted) => {
    expect(members(of)).toEqual(redacted)
  })

  test('from JSON in a text in JSON, three texts deep', () => {
    const number = erasing({ userId: '42' })
    const deep = (texts: number): string =>
      JSON.stringify(texts === 1 ? { assigneeId: 42 } : { x: deep(texts - 1) })
    expect(members({ x: deep(3) }, number)['x']).toContain(pseudonymOf(SALT, '42'))
    expect(members({ x: deep(4) }, number)).toEqual({ x: deep(4) })
  })

  test('that is written in two ways, as one name of a member', () => {
    expect(members({ readBy: { [ID]: 1, 'user%2D17': 2 } })).toEqual({ readBy: { [PSEUDONYM]: 2 } })
  })

  test('that holds what a URL must encode', () => {
    const odd = erasing({ userId: 'auth0|5 f/7' })
    const pseudonym = pseudonymOf(SALT, 'auth0|5 f/7')
    expect(members({ link: '/users/auth0%7C5%20f%2F7?x' }, odd)).toEqual({
      link: `/users/${pseudonym}?x`,
    })
  })

  test('that is a number, where people are named', () => {
    const numbered = erasing({ userId: '42' })
    const pseudonym = pseudonymOf(SALT, '42')
    expect(
      members(
        {
          assigneeId: 42,
          readBy: ['42', 42, '43'],
          seen_by: { 42: '2026-01-01' },
          author: { id: 42, name: 'May' },
          reactions: [{ userId: 42, emoji: 'x' }],
          watchers: [{ key: '42' }, { _id: 42 }, { valid: '42', idle: 42 }],
          payload: '\n{"assigneeId": 42}',
          link: 'https://x.example/users/42/documents/42?userId=42&page=42',
        },
        numbered,
      ),
    ).toEqual({
      assigneeId: pseudonym,
      readBy: [pseudonym, pseudonym, '43'],
      seen_by: { [pseudonym]: '2026-01-01' },
      author: { id: pseudonym },
      reactions: [{ userId: pseudonym }],
      watchers: [{ key: pseudonym }, { _id: pseudonym }, { valid: '42', idle: 42 }],
      payload: `{"assigneeId":"${pseudonym}"}`,
      link: `https://x.example/users/${pseudonym}/documents/42?userId=${pseudonym}&page=42`,
    })
  })
})

describe('an id is told from words and numbers', () => {
  const long = 'a1'.repeat(512)
  test.each<[id: string, replaced: object, kept: object]>([
    // As a whole value: what is neither short nor a number, and anything where people are named.
    ['ab', { readBy: ['ab'] }, { x: 'ab' }],
    ['ann', { x: 'ann' }, { commentText: 'ann' }],
    ['commentText', { x: 'commentText' }, { commentText: 'x' }],
    ['12345', { readBy: ['%31%32345'] }, { x: '12345', commentText: 'See 12345, user 12345' }],
    ['1234567890', { x: '1234567890' }, { commentText: '1234567890' }],
    ['1:a', { x: '1:a' }, {}],
    ['auth0|5 f', { x: 'auth0|5 f' }, {}],
    ['auth0|5 f', { x: 'auth0%7C5%20f' }, {}],
    [long, { x: long, commentText: `See ${long}` }, {}],
    [`${long}1`, {}, { x: `${long}1`, commentText: `See ${long}1` }],
    // In words: digits and letters, at least four.
    ['ab12', { commentText: '**@ab12**, owner:ab12!' }, { commentText: 'a.b12 xab12' }],
    ['ab1', {}, { commentText: 'ab1' }],
    // In quotes: anything behind a word for people.
    [
      '42',
      { commentText: '{"userId":"42", "by": "42"' },
      { commentText: '"page": "42", user "42' },
    ],
    ['anna', { commentText: 'Assignee = "anna"' }, { commentText: 'say "anna", user anna"' }],
    // In a URL: what is neither short nor a number.
    ['anna', { x: 'www.x.example/anna' }, { x: 'and/anna ftp.www.x/anna name=anna' }],
  ])('%s', (id, goes, stays) => {
    const redaction = erasing({ userId: id })
    const redacted = JSON.stringify(members(goes, redaction))
    expect(redacted.replaceAll(pseudonymOf(SALT, id), '')).not.toContain(id)
    expect(redacted === '{}' || redacted.includes(pseudonymOf(SALT, id))).toBe(true)
    expect(members(stays, redaction)).toEqual(stays)
  })
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
    count: '42',
    documentId: '42',
    id: 42,
    anchor: { id: '42', name: 'May' },
    months: { May: 42, 42: 'May' },
    month: 'May',
    label: 'May',
    link: 'https://x.example/documents/42/pages/42?page=42#42',
    tagged: [{ userId: '43', name: 'May', email: 'may@y.example' }],
  }
  expect(members(of, may)).toEqual(of)
  const namesake = { userId: '43', name: 'May', email: 'may@y.example', level: '42' }
  expect(redactUser(namesake, may)).toEqual(namesake)
})

describe('a name', () => {
  test('goes from objects that hold an id or address of the person, and stays in all others', () => {
    const name = NAME
    expect(
      members({
        commentText: `Thanks, ${name}!`,
        assignee: { assigneeEmail: ADDRESS, assigneeName: name, text: `@${name} do it` },
        tags: [{ text: `@${name}`, contact: { userId: ID, name } }],
        watch: { who: [ID], title: `Mail of wilhelmine zzyzx ürgens, and more` },
        author: { title: name },
      }),
    ).toEqual({
      commentText: `Thanks, ${name}!`,
      assignee: { assigneeEmail: HASH, assigneeName: 'erased', text: '@erased do it' },
      tags: [{ text: '@erased', contact: { userId: PSEUDONYM } }],
      watch: { who: [PSEUDONYM], title: 'Mail of erased, and more' },
      author: { title: name },
    })
  })

  test('of one word goes where it is a name, and that of somebody beside the person stays', () => {
    const may = erasing({ userId: 'user-7', names: ['May'], emails: ['may@x.example'] })
    expect(
      members(
        {
          x: {
            assigneeEmail: 'May@x.example',
            assigneeName: 'May',
            reporterId: 'user-8',
            reporterName: 'May',
            month: 'May',
            title: 'Release in May',
          },
        },
        may,
      ),
    ).toEqual({
      x: {
        assigneeEmail: emailPseudonymOf(SALT, 'may@x.example'),
        assigneeName: 'erased',
        reporterId: 'user-8',
        reporterName: 'May',
        month: 'May',
        title: 'Release in May',
      },
    })
    const beside = { labelled: 'May', label: 'May Day', text: ' @May', title: '@Release in May' }
    expect(members({ x: { assigneeId: 'user-7', ...beside } }, may)).toEqual({
      x: { assigneeId: pseudonymOf(SALT, 'user-7'), ...beside, text: ' @erased' },
    })
  })

  test.each([
    ['reporter_e_mail', 'reporter_name'],
    ['reporterEmailAddress', 'reporterFullName'],
    ['reporter_email_address', 'reporter_full_name'],
    ['reporterUserId', 'reporterLabel'],
    ['reporter_user_id', 'reporterName'],
  ])('of somebody else is told by %s beside %s, which is there', (id, name) => {
    const may = erasing({ userId: 'user-7', names: ['May'] })
    const beside = (value: unknown) =>
      (members({ x: { by: 'user-7', [id]: value, [name]: 'May' } }, may)['x'] as never)[name]
    expect(['user-8', 8, 'user-7', null].map(beside)).toEqual(['May', 'May', 'erased', 'erased'])
  })

  test.each<[object, object?]>([
    [
      { x: { id: ID, size: 1 }, title: NAME },
      { x: { id: PSEUDONYM, size: 1 }, title: NAME },
    ],
    [{ x: { id: ID, name: 'W', size: 1 } }, { x: { id: PSEUDONYM } }],
    [{ x: { id: ID, email: 'w@x.example' } }, { x: { id: PSEUDONYM } }],
    [
      { x: { id: 'doc-1', email: ADDRESS }, title: NAME },
      { x: {}, title: 'erased' },
    ],
    [
      { who: [ID, 'user-18'], title: NAME },
      { who: [PSEUDONYM, 'user-18'], title: 'erased' },
    ],
    [
      { assignee: { id: ID, name: 'W' }, title: NAME },
      { assignee: { id: PSEUDONYM }, title: 'erased' },
    ],
    [
      { readers: [{ userId: ID }], title: NAME },
      { readers: [{ userId: PSEUDONYM }], title: NAME },
    ],
    [{ x: { email: 'bob@x.example', name: 'Bob' }, title: NAME }],
    [{ x: {}, title: NAME }],
    [{ x: 'erased:draft', title: NAME }],
  ])('stands beside the person, or not: %j', (of, redacted = of) => {
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
