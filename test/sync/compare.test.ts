import { describe, expect, test } from 'vitest'
import {
  compareComments,
  compareMembers,
  isSuspiciousLoss,
  threadFactsOf,
} from '../../src/sync/compare/comments.ts'
import { CommentRecord } from '../../src/sync/record/comment.ts'
import { commentTexts } from '../helpers/columns.ts'

const digest = (letter: string) => Buffer.alloc(16, letter)
const record = (commentId: number, letter: string) =>
  ({ commentId, digest: digest(letter) }) as unknown as CommentRecord
const stored = (...rows: [number, string, boolean][]) =>
  new Map(rows.map(([id, letter, deleted]) => [id, { digest: digest(letter), deleted }]))

describe('comparing comments', () => {
  test('tells added, changed, restored and unchanged apart', () => {
    const before = stored([1, 'a', false], [2, 'a', false], [3, 'a', true])
    const changes = compareComments(
      before,
      [record(1, 'a'), record(2, 'b'), record(3, 'a'), record(4, 'a')],
      [],
    )
    expect(changes.added.map(({ commentId }) => commentId)).toEqual([4])
    expect(changes.changed.map(({ commentId }) => commentId)).toEqual([2, 3])
    expect(changes).toMatchObject({ unchanged: 1, live: 4, deleted: [] })
  })

  test('deletes nothing that is merely missing', () => {
    expect(compareComments(stored([1, 'a', false]), [], [])).toMatchObject({ deleted: [], live: 1 })
  })

  test('deletes only what is stored, live and not in the answer, once there is evidence', () => {
    const before = stored([1, 'a', false], [2, 'a', true], [3, 'a', false])
    expect(compareComments(before, [record(3, 'a')], [1, 2, 3, 9])).toMatchObject({
      deleted: [1],
      live: 1,
    })
  })
})

describe('comparing a listing of users', () => {
  test('tells who joined, who came back and who is missing', () => {
    const changes = compareMembers(
      new Map([
        ['here', false],
        ['left', true],
        ['gone', false],
      ]),
      new Set(['here', 'left', 'new']),
    )
    expect(changes).toEqual({ joined: ['left', 'new'], cameBack: 1, missing: ['gone'], before: 2 })
  })

  const losing = (lost: number, before: number) => ({
    joined: [],
    cameBack: 0,
    missing: Array.from({ length: lost }, (_, index) => `u${index}`),
    before,
  })

  test.each([
    [0, 0, false],
    [0, 20, false],
    [10, 12, false],
    [11, 22, false],
    [12, 22, true],
    [1, 1, true],
    [5, 5, true],
    [10, 10, true],
    [11, 11, true],
    [11, 21, true],
    [10, 19, false],
  ])('losing %i of %i is suspicious: %s', (lost, before, expected) => {
    expect(isSuspiciousLoss(losing(lost, before), 0.5)).toBe(expected)
  })
})

test('whoever could not be stored neither joins nor is missing', () => {
  const before = new Map([
    ['here', false],
    ['gone', false],
  ])
  expect(compareMembers(before, new Set(['new']), new Set(['here', 'other']))).toEqual({
    joined: ['new'],
    cameBack: 0,
    missing: ['gone'],
    before: 2,
  })
})

describe('what reports ask of a thread', () => {
  const comment = (commentId: number, authorUserId: string | null, lastUpdated: string | null) =>
    new CommentRecord(commentId, commentTexts({ authorUserId, lastUpdated }), null, 0)
  const at = (minute: number) => `2026-01-02T03:${String(minute).padStart(2, '0')}:00.000Z`

  test('is its first and last time, the first answer of another author, and its authors', () => {
    const thread = [
      comment(4, 'bob', at(30)),
      comment(1, 'ann', at(10)),
      comment(3, 'cid', at(20)),
      comment(2, 'ann', at(15)),
      comment(5, null, at(12)),
      comment(6, 'dan', null),
    ]
    const facts = {
      firstCommentAt: at(10),
      lastCommentAt: at(30),
      firstAnswerAt: at(20),
      authors: ['ann', 'bob', 'cid', 'dan'],
    }
    expect(threadFactsOf(thread)).toEqual(facts)
    expect(threadFactsOf(thread.toReversed())).toEqual(facts)
  })

  test('is nothing of an empty thread, and begins without an answer', () => {
    const nothing = { firstCommentAt: null, lastCommentAt: null, firstAnswerAt: null, authors: [] }
    expect(threadFactsOf([])).toEqual(nothing)
    expect(threadFactsOf([comment(1, null, null)])).toEqual(nothing)
    expect(threadFactsOf([comment(1, 'ann', at(1)), comment(2, 'ann', at(2))])).toEqual({
      firstCommentAt: at(1),
      lastCommentAt: at(2),
      firstAnswerAt: null,
      authors: ['ann'],
    })
  })

  test('has no answer where nobody knows who began it', () => {
    const thread = [comment(1, null, at(1)), comment(2, 'bob', at(2))]
    expect(threadFactsOf(thread)).toMatchObject({ firstAnswerAt: null, authors: ['bob'] })
  })

  test.each([
    ['of two at one time the lower id', [comment(2, 'bob', at(1)), comment(1, 'ann', at(1))]],
    ['without a time is not the first', [comment(1, 'bob', null), comment(2, 'ann', at(5))]],
  ])('begins with one comment in whatever order: %s', (_what, thread) => {
    for (const each of [thread, thread.toReversed()]) {
      const asOpener = threadFactsOf([...each, comment(9, 'ann', at(9)), comment(8, 'bob', at(8))])
      expect(asOpener.firstAnswerAt).toBe(thread[0]?.lastUpdated ?? at(8))
    }
  })

  test('begins, of two comments at one time, with the one of the lower id', () => {
    const answer = comment(9, 'ann', at(9))
    for (const [byNobody, byBob, expected] of [
      [1, 2, null],
      [2, 1, at(9)],
    ] as const) {
      const both = [comment(byNobody, null, at(1)), comment(byBob, 'bob', at(1))]
      for (const thread of [both, both.toReversed()])
        expect(threadFactsOf([...thread, answer]).firstAnswerAt).toBe(expected)
    }
  })

  test('names its authors in the order of PostgreSQL, which is that of UTF-8', () => {
    const authors = ['\u{1f600}', '\uffee', 'b', 'a', 'é']
    const thread = authors.map((author, id) => comment(id, author, at(id)))
    expect(threadFactsOf(thread).authors).toEqual(['a', 'b', 'é', '\uffee', '\u{1f600}'])
    expect(threadFactsOf(thread.slice(2)).authors).toEqual(['a', 'b', 'é'])
  })
})
