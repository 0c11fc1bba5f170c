import { describe, expect, test } from 'vitest'
import { compareContents } from '../../src/features/check/contents.ts'
import { CommentRecord } from '../../src/core/sync/record/comment.ts'
import { digestOfRejected } from '../../src/core/sync/record/digest.ts'
import type { CommentsResult, UsersResult } from '../../src/core/sync/fetch/result.ts'
import { commentTexts, userTexts } from '../helpers/columns.ts'
import { answeringTables } from '../helpers/answering-tables.ts'

const SCOPE = {
  key: 7,
  organizationKey: 1,
  kind: 'annotation',
  organizationId: 'o',
  documentId: 'd',
  annotationId: 'a',
  organizationUserGroupId: null,
}
const AT = '2026-01-02T03:04:05.678Z'
const SAME = { isChangedSince: false, isSetAside: false, reason: null, removal: null }

function comment(commentId: number, columns: Parameters<typeof commentTexts>[0] = {}) {
  const texts = commentTexts({ commentText: 'Hello', lastUpdated: AT, ...columns })
  return new CommentRecord(commentId, texts, null, 0)
}

/** The row that comments/read gives of a comment. */
function commentRow(record: CommentRecord, isDeleted = false): unknown[] {
  const texts = record.texts.map((text) => (text === AT ? new Date(AT) : text))
  return [record.commentId, ...texts, Buffer.alloc(16), new Date(AT), isDeleted]
}

function userRow(userId: string, name: string, source = 3, isListed = true): unknown[] {
  return [userId, name, null, null, source, isListed, Buffer.alloc(16), new Date(AT)]
}

function comments(more: Partial<CommentsResult>): CommentsResult {
  const nothing = { records: [], gone: [], rejects: [], isListing: true }
  return { outcome: 'comments', scope: SCOPE, ...nothing, ...more } as unknown as CommentsResult
}

function users(kind: string, names: Record<string, string>, more: Partial<UsersResult> = {}) {
  const records = Object.entries(names).map(([userId, name]) => ({
    userId,
    texts: userTexts({ name }),
  }))
  const scope = { ...SCOPE, kind }
  const all = { outcome: 'users', scope, records, rejects: [], isListing: true, ...more }
  return all as unknown as UsersResult
}

async function compare(
  result: CommentsResult | UsersResult,
  tables: Parameters<typeof answeringTables>[0],
  checkedAt: Date | null = null,
) {
  const { client, asked } = answeringTables(tables)
  const compared = await compareContents(client as never, result, checkedAt)
  return { ...compared, asked }
}

describe('comments beside what is stored', () => {
  test('differ by column, are missing or extra, or are the same', async () => {
    const stored = [
      commentRow(comment(1)),
      commentRow(comment(2, { commentText: 'Before', status: 'added' })),
      commentRow(comment(3), true),
      commentRow(comment(5)),
      commentRow(comment(6), true),
    ]
    const { records, differences, asked } = await compare(
      comments({ records: [1, 2, 3, 4].map((id) => comment(id)), gone: [5, 6, 9] }),
      { 'comments/read': stored },
    )
    expect(differences).toEqual([
      { ...SAME, id: 2, kind: 'different', columns: ['comment_text', 'status'] },
      { ...SAME, id: 3, kind: 'missing', columns: [] },
      { ...SAME, id: 4, kind: 'missing', columns: [] },
      { ...SAME, id: 5, kind: 'extra', columns: [] },
    ])
    expect(records).toBe(5)
    expect(asked).toEqual([['comments/read', [7, null]]])
  })

  test('are read by their ids where just some were asked for', async () => {
    const asking = comments({ records: [comment(1)], gone: [5], isListing: false })
    const { asked } = await compare(asking, { 'comments/read': [] })
    expect(asked).toEqual([['comments/read', [7, [1, 5]]]])
  })

  test('have the same rest whatever the order and blanks of its members', async () => {
    const kinds = async (before: string | null, received: string | null) => {
      const answer = comments({ records: [comment(1, { rest: received })] })
      const row = commentRow(comment(1, { rest: before }))
      return (await compare(answer, { 'comments/read': [row] })).differences.map(
        (each) => each.columns,
      )
    }
    expect(await kinds('{"b": 1, "a": [2]}', '{"a":[2],"b":1}')).toEqual([])
    expect(await kinds('{"b": 1}', '{"b":2}')).toEqual([['rest']])
    expect(await kinds(null, '{"b":2}')).toEqual([['rest']])
    expect(await kinds('{"b": 1}', null)).toEqual([['rest']])
  })

  test.each([
    ['later than the check', new Date(Date.parse(AT) - 1), AT, true],
    ['at the check', new Date(AT), AT, false],
    ['without a time', new Date(0), null, false],
    ['in a batch that was never checked', null, AT, false],
  ])('are changed since: %s', async (_what, checkedAt, lastUpdated, isChangedSince) => {
    const answer = comments({ records: [comment(1, { lastUpdated })] })
    const { differences } = await compare(answer, { 'comments/read': [] }, checkedAt)
    expect(differences).toEqual([{ ...SAME, id: 1, kind: 'missing', columns: [], isChangedSince }])
  })

  test('that cannot be stored are told with their reason, and whether a person has set them aside', async () => {
    const rejects = [
      { reason: 'odd', record: '{"x":1}', isWhole: true },
      { reason: 'fine by now', record: '{"x":2}', isWhole: true },
      { reason: 'a member', record: '{"x":3}', isWhole: false },
      { reason: 'nothing of it is known', record: '', isWhole: true },
    ]
    const setAside = digestOfRejected('comments', SCOPE, { record: '{"x":2}', reason: '' })
    const answer = comments({ rejects, records: [comment(1)] })
    const { records, differences, asked } = await compare(answer, {
      'comments/read': [commentRow(comment(1))],
      'rejected/read-set-aside': [[setAside]],
    })
    const rejected = { ...SAME, id: null, kind: 'rejected', columns: [] }
    expect(differences).toEqual([
      { ...rejected, reason: 'odd', isSetAside: false },
      { ...rejected, reason: 'fine by now', isSetAside: true },
      { ...rejected, reason: 'nothing of it is known', isSetAside: false },
    ])
    expect(records).toBe(4)
    const digestOf = (record: string, reason = '') =>
      digestOfRejected('comments', SCOPE, { record, reason })
    expect(asked.at(-1)).toEqual([
      'rejected/read-set-aside',
      [[digestOf('{"x":1}'), digestOf('{"x":2}'), digestOf('', 'nothing of it is known')]],
    ])
  })
})

describe('users beside what is stored', () => {
  const rows = [userRow('ann', 'Ann'), userRow('bob', 'Bob'), userRow('cid', 'Cid', 2, false)]
  const names = { ann: 'Ann', bob: 'Robert', cid: 'Cid', dan: 'Dan' }

  test('of the organization are those who are listed', async () => {
    const gone = userRow('eve', 'Eve')
    const { records, differences, asked } = await compare(users('organization', names), {
      'users/read-content': [...rows, gone],
      'held/removals': [['eve', true]],
    })
    expect(differences).toEqual([
      { ...SAME, id: 'bob', kind: 'different', columns: ['name'] },
      { ...SAME, id: 'cid', kind: 'missing', columns: [] },
      { ...SAME, id: 'dan', kind: 'missing', columns: [] },
      { ...SAME, id: 'eve', kind: 'extra', columns: [], removal: 'refused' },
    ])
    expect(records).toBe(5)
    expect(asked).toEqual([
      ['users/read-content', [1, ['ann', 'bob', 'cid', 'dan'], true]],
      ['held/removals', ['organization', 7]],
    ])
  })

  test('of an organization of whom just some were asked for are not judged by who is listed', async () => {
    const { differences, asked } = await compare(
      users('organization', { cid: 'Cid' }, { isListing: false }),
      { 'users/read-content': rows },
    )
    expect([differences, asked[0]?.[1]]).toEqual([[], [1, ['cid'], false]])
    const unknown = users('organization', { zoe: 'Zoe' }, { isListing: false })
    expect((await compare(unknown, { 'users/read-content': [] })).differences).toEqual([
      { ...SAME, id: 'zoe', kind: 'missing', columns: [] },
    ])
  })

  test.each([
    ['document', 'members/read-document-users'],
    ['group', 'members/read-user-group-members'],
  ])(
    'of a %s are its members, whose rows the organization’s listing alone corrects',
    async (kind, statement) => {
      const { differences, asked } = await compare(users(kind, names), {
        'users/read-content': [...rows, userRow('dan', 'Daniel', 2)],
        [statement]: [
          [7, 'ann', false],
          [7, 'bob', false],
          [7, 'cid', true],
          [7, 'dan', false],
          [7, 'eve', false],
          [7, 'fay', true],
        ],
        'held/removals': [],
      })
      expect(differences).toEqual([
        { ...SAME, id: 'cid', kind: 'missing', columns: [] },
        { ...SAME, id: 'dan', kind: 'different', columns: ['name'] },
        { ...SAME, id: 'eve', kind: 'extra', columns: [] },
      ])
      expect(asked).toEqual([
        ['users/read-content', [1, ['ann', 'bob', 'cid', 'dan'], false]],
        [statement, [[7]]],
        ['held/removals', [kind, 7]],
      ])
    },
  )
})
