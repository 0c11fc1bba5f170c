import { expect, test } from 'vitest'
import type { CommentColumns } from '../../src/database/comment-rows.ts'
import { digestOfComment, digestOfComments } from '../../src/sync/record/digest.ts'

const PLAIN: CommentColumns = {
  commentId: 1,
  commentText: 'Hello',
  commentHtml: '<p>Hello</p>',
  authorUserId: 'u1',
  authorName: null,
  authorEmail: null,
  status: 'added',
  type: 'text',
  lastUpdated: '2026-01-02T03:04:05.678Z',
  rest: null,
}

test('a null, an empty text and a text in the next column give three digests', () => {
  const digests = [
    { ...PLAIN, authorName: null, authorEmail: 'a' },
    { ...PLAIN, authorName: '', authorEmail: 'a' },
    { ...PLAIN, authorName: 'a', authorEmail: '' },
    { ...PLAIN, authorName: 'a', authorEmail: null },
  ].map((comment) => digestOfComment(comment).toString('hex'))
  expect(new Set(digests).size).toBe(4)
})

test.each(Object.keys(PLAIN))('%s counts for the digest', (name) => {
  const changed = { ...PLAIN, [name]: name === 'commentId' ? 2 : 'something else' }
  expect(digestOfComment(changed)).not.toEqual(digestOfComment(PLAIN))
})

test('the digest that is told of each comment is the one it has by itself, also among long ones', () => {
  const long = 'é'.repeat(200_000)
  const comments = [1, 2, 3, 4, 5, 6].map((commentId) => ({
    ...PLAIN,
    commentId,
    commentText: commentId % 3 === 0 ? long : 'x'.repeat(60_000 + commentId),
  }))
  const told: string[] = []
  const all = digestOfComments(comments, (_comment, digest) => told.push(digest.toString('hex')))
  expect(told).toEqual(comments.map((comment) => digestOfComment(comment).toString('hex')))
  expect(digestOfComments(comments)).toEqual(all)
  expect(digestOfComments(comments.toReversed())).not.toEqual(all)
})
