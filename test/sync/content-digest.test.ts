import { expect, test } from 'vitest'
import { COMMENT_COLUMN_LIST } from '../../src/columns.ts'
import type { CommentColumns } from '../../src/columns.ts'
import { digestOfComment, digestOfComments } from '../../src/sync/record/digest.ts'
import { digestOfUser } from '../../src/sync/record/user.ts'
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
