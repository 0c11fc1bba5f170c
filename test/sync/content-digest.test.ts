import { createHash } from 'node:crypto'
import { parse } from 'lossless-json'
import { describe, expect, test } from 'vitest'
import { COMMENT_COLUMN_LIST } from '../../src/base/columns.ts'
import type { CommentColumns } from '../../src/base/columns.ts'
import type { Operation } from '../../src/base/errors.ts'
import {
  canonicalJson,
  digestOfComments,
  digestOfRejected,
  digestOfUser,
  digestOfUsers,
} from '../../src/core/sync/record/digest.ts'
import { commentTexts, userTexts } from '../helpers/columns.ts'

const digestOfComment = (comment: CommentColumns) => digestOfComments([comment])

const PLAIN = {
  commentText: 'Hello',
  commentHtml: '<p>Hello</p>',
  authorUserId: 'u1',
  status: 'added',
  type: 'text',
  lastUpdated: '2026-01-02T03:04:05.678Z',
}

/** A comment like the plain one but for some columns. */
function plain(columns: Parameters<typeof commentTexts>[0], commentId = 1): CommentColumns {
  return { commentId, texts: commentTexts({ ...PLAIN, ...columns }) }
}

test('a null, an empty text and a text in the next column give three digests', () => {
  const digests = [
    { authorName: null, authorEmail: 'a' },
    { authorName: '', authorEmail: 'a' },
    { authorName: 'a', authorEmail: '' },
    { authorName: 'a', authorEmail: null },
  ].map((columns) => digestOfComment(plain(columns)).toString('hex'))
  expect(new Set(digests).size).toBe(4)
})

test.each(COMMENT_COLUMN_LIST)('$name counts for the digest', ({ name }) => {
  const changed = plain({ [name]: 'something else' })
  expect(digestOfComment(changed)).not.toEqual(digestOfComment(plain({})))
})

test('the id counts for the digest', () => {
  expect(digestOfComment(plain({}, 2))).not.toEqual(digestOfComment(plain({}, 1)))
})

test('the digest of what is stored already never changes', () => {
  expect(digestOfComment(plain({})).toString('hex')).toBe('f4be9eb6980aabe4678ce3ca2ead725a')
  const user = { userId: 'u1', texts: userTexts({ name: 'Ann', email: 'a@x.example' }) }
  expect(digestOfUser(user).toString('hex')).toBe('dd329ca2341eeec1745c2a1c6b9de8a6')
})

test('the digest that is told of each comment is the one it has by itself, also among long ones', () => {
  const long = 'é'.repeat(200_000)
  const comments = [1, 2, 3, 4, 5, 6].map((commentId) =>
    plain({ commentText: commentId % 3 === 0 ? long : 'x'.repeat(60_000 + commentId) }, commentId),
  )
  const told: string[] = []
  const all = digestOfComments(comments, (_comment, digest) => told.push(digest.toString('hex')))
  expect(told).toEqual(comments.map((comment) => digestOfComment(comment).toString('hex')))
  expect(digestOfComments(comments)).toEqual(all)
  expect(digestOfComments(comments.toReversed())).not.toEqual(all)
})

test('JSON is the same text whatever the order of its members, and another for any other content', () => {
  expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: true })).toBe(
    '{"a":true,"b":[1,{"c":"x","d":null}]}',
  )
  expect([[], {}, null, 'a"b', 0, false].map(canonicalJson)).toEqual([
    '[]',
    '{}',
    'null',
    '"a\\"b"',
    '0',
    'false',
  ])
  expect(canonicalJson(parse('{"n":12345678901234567890.10}'))).toBe(
    '{"n":12345678901234567890.10}',
  )
})

describe('a rejected record is known again', () => {
  const SCOPE = {
    organizationId: 'o',
    documentId: 'd',
    annotationId: 'a',
    organizationUserGroupId: null,
  }
  const of = (
    record: string,
    scope: Partial<typeof SCOPE> = {},
    operation: Operation = 'comments',
  ) => digestOfRejected(operation, { ...SCOPE, ...scope }, { record, reason: '' }).toString('hex')

  test('by its content, whatever the order and blanks of its members', () => {
    expect(of('{"a":1,"b":{"d":2,"c":3}}')).toBe(of('{ "b": {"c":3, "d":2}, "a":1 }'))
    expect(of('{"a":0,"a":1}')).toBe(of('{"a":1}'))
    expect(of('{"a":1}')).not.toBe(of('{"a":2}'))
    expect(of('{"a":12345678901234567890}')).not.toBe(of('{"a":12345678901234567891}'))
    expect(of('{"a":1}')).toMatch(/^[0-9a-f]{32}$/)
  })

  test('by its scope and operation too', () => {
    const scopes = [
      of('{}'),
      of('{}', { organizationId: 'p' }),
      of('{}', { documentId: 'e' }),
      of('{}', { annotationId: 'b' }),
      of('{}', { organizationUserGroupId: 'g' } as never),
      of('{}', {}, 'users'),
    ]
    expect(new Set(scopes).size).toBe(6)
  })

  test('by its very text where that is long or cut, and by the reason where nothing is known of it', () => {
    const unread = (reason: string) => digestOfRejected('comments', SCOPE, { record: '', reason })
    expect(unread('odd')).toEqual(unread('odd'))
    expect(unread('odd')).not.toEqual(unread('other'))
    expect(of('{"a":')).not.toBe(of('{"a": '))
    const long = (blank: string) => `{"a":${blank}"${'x'.repeat(100_000)}"}`
    expect(of(long(''))).not.toBe(of(long(' ')))
    const short = (blank: string) => `{"a":${blank}"${'x'.repeat(99_990)}"}`
    expect(short(' ').length).toBeLessThanOrEqual(100_000)
    expect(of(short(''))).toBe(of(short(' ')))
    expect(of('{"a":"')).not.toBe(of('{"a": "'))
  })

  test('without what is nested deeper than is stored', () => {
    const nested = (levels: number, inner = '') =>
      `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`
    expect(of(nested(101))).toBe(of(nested(101, ' ')))
    expect(of(nested(100, '1'))).not.toBe(of(nested(100, '2')))
    expect(of(nested(102))).toBe(of(nested(40_000)))
  })
})

test('users have one digest, the same for any order', () => {
  const user = (userId: string, digit: number) => ({ userId, digest: Buffer.alloc(16, digit) })
  const hex = (users: ReturnType<typeof user>[]) => digestOfUsers(users).toString('hex')
  expect(hex([user('a', 1), user('b', 2)])).toMatch(/^[0-9a-f]{32}$/)
  expect(hex([user('a', 1), user('b', 2)])).toBe(hex([user('b', 2), user('a', 1)]))
  expect(hex([user('a', 1), user('b', 2)])).not.toBe(hex([user('a', 2), user('b', 1)]))
  const both = createHash('sha256').update(Buffer.alloc(16, 1)).update(Buffer.alloc(16, 2))
  expect(hex([user('a', 1), user('b', 2)])).toBe(both.digest('hex').slice(0, 32))
})
