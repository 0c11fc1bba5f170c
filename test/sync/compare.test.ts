import { describe, expect, test } from 'vitest'
import { compareComments } from '../../src/core/sync/compare/comments.ts'
import { compareMembers, isSuspiciousLoss } from '../../src/core/sync/compare/listings.ts'
import type { CommentRecord } from '../../src/core/sync/record/comment.ts'

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
