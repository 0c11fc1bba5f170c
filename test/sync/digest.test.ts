import { parse } from 'lossless-json'
import { expect, test } from 'vitest'
import { COMMENT_COLUMN_LIST } from '../../src/base/columns.ts'
import type { CommentColumns } from '../../src/base/columns.ts'
import {
  canonicalJson,
  digestOfComments,
  digestOfRejected,
  digestOfUser,
  digestOfListing,
} from '../../src/core/sync/record/digest.ts'
import { commentTexts, userTexts } from '../helpers/columns.ts'

const PLAIN = {
  commentText: 'Hello',
  commentHtml: '<p>Hello</p>',
  authorUserId: 'u1',
  status: 'added',
  type: 'text',
  lastUpdated: '2026-01-02T03:04:05.678Z',
}

/** A comment like the plain one but for some columns. */
function comment(columns: Parameters<typeof commentTexts>[0], commentId = 1): CommentColumns {
  return { commentId, texts: commentTexts({ ...PLAIN, ...columns }) }
}

const ofComment = (...of: Parameters<typeof comment>) =>
  digestOfComments([comment(...of)]).toString('hex')
const ofUser = (columns: Parameters<typeof userTexts>[0]) =>
  digestOfUser({ userId: 'u1', texts: userTexts(columns) }).toString('hex')

test('each column and the ID count for the digest of a comment; null, an empty text and the next column are distinct', () => {
  const digests = [
    ofComment({}),
    ofComment({}, 2),
    ...COMMENT_COLUMN_LIST.map(({ name }) => ofComment({ [name]: 'something else' })),
    ofComment({ authorName: '', authorEmail: 'a' }),
    ofComment({ authorName: null, authorEmail: 'a' }),
    ofComment({ authorName: 'a', authorEmail: '' }),
    ofComment({ authorName: 'a', authorEmail: null }),
  ]
  expect(new Set(digests).size).toBe(digests.length)
})

test('the same holds for a user', () => {
  const digests = [
    ofUser({ name: null, email: 'a' }),
    ofUser({ name: '', email: 'a' }),
    ofUser({ name: 'a', email: null }),
    ofUser({ name: 'a', email: '' }),
    ofUser({ name: 'a', rest: '{}' }),
  ]
  expect(new Set(digests).size).toBe(digests.length)
})

test('the digest of what is stored already never changes', () => {
  expect(ofComment({})).toBe('f4be9eb6980aabe4678ce3ca2ead725a')
  expect(ofComment({ rest: '{"a":1}' })).toBe('88afc63016c54afbe755429073e3c157')
  expect(ofUser({ name: 'Ann', email: 'a@x.example' })).toBe('dd329ca2341eeec1745c2a1c6b9de8a6')
  expect(ofUser({ rest: '{"a":1}' })).toBe('c05de2bf9a703f96f5621e7bb3427f82')
})

test('a comment has the same digest by itself and among others, also among long ones', () => {
  const long = 'é'.repeat(200_000)
  const comments = [1, 2, 3, 4, 5, 6].map((id) =>
    comment({ commentText: id % 3 === 0 ? long : 'x'.repeat(60_000 + id) }, id),
  )
  const digests: Buffer[] = []
  const all = digestOfComments(comments, (_comment, digest) => digests.push(digest))
  expect(digests).toEqual(comments.map((each) => digestOfComments([each])))
  expect(digestOfComments(comments)).toEqual(all)
  expect(digestOfComments(comments.toReversed())).not.toEqual(all)
})

test('the records of a listing have one digest, the same for any order', () => {
  const digestOf = (...records: [string, number][]) =>
    digestOfListing(
      new Map(records.map(([id, digit]) => [id, { digest: Buffer.alloc(16, digit) }])),
    )
  const one = digestOf(['a', 1], ['b', 2])
  expect(digestOf(['b', 2], ['a', 1])).toEqual(one)
  expect(digestOf(['a', 2], ['b', 1])).not.toEqual(one)
})

test('JSON is the same text whatever the order of its members', () => {
  const value = { b: [1, { d: null, c: 'x"' }, [], {}, false], a: parse('12345678901234567890.10') }
  expect(canonicalJson(value)).toBe(
    '{"a":12345678901234567890.10,"b":[1,{"c":"x\\"","d":null},[],{},false]}',
  )
})

test('a rejected record is recognized by operation, scope and content, or by the reason where its text is not known', () => {
  const ids = { organizationId: 'o', documentId: 'd', annotationId: 'a' }
  const scope = { ...ids, organizationUserGroupId: null }
  const of = (record: string, change: object = {}, reason = 'odd') =>
    digestOfRejected('comments', { ...scope, ...change }, { record, reason }).toString('hex')
  const all = [
    digestOfRejected('users', scope, { record: '{}', reason: 'odd' }).toString('hex'),
    of('{}'),
    ...Object.keys(scope).map((name) => of('{}', { [name]: 'x' })),
    of(''),
    of('', {}, 'other'),
    of('{"a":1}'),
    of('{"a":12345678901234567890}'),
    of('{"a":12345678901234567891}'),
    // The order and the blanks of a text that is no JSON count.
    of('{"a":"'),
    of('{"a": "'),
  ]
  expect(new Set(all).size).toBe(all.length)
  expect(of('{"b":{"d":2,"c":3},"a":1}')).toBe(of('{ "a": 1, "b": {"c":3, "d":2} }', {}, 'other'))
  // Of two members with one name the last counts, and what is nested deeper than is stored does not.
  expect(of('{"a":0,"a":1}')).toBe(of('{"a":1}'))
  const nested = (levels: number, inner = '') => '['.repeat(levels) + inner + ']'.repeat(levels)
  expect(of(nested(101))).toBe(of(nested(101, ' ')))
  expect(of(nested(102))).toBe(of(nested(40_000)))
  // A text of more than 100,000 characters is not parsed.
  const filled = (blank: string, length: number) => `{"a":${blank}"${'x'.repeat(length)}"}`
  expect(of(filled('', 99_990))).toBe(of(filled(' ', 99_990)))
  expect(of(filled('', 100_000))).not.toBe(of(filled(' ', 100_000)))
})
