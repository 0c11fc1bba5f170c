import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commentColumns, userColumns } from '../helpers/columns.ts'
import { insertComments, readCommentContents } from '../../src/database/comments.ts'
import { transaction } from '../../src/database/pool.ts'
import type { BatchScope } from '../../src/database/scopes.ts'
import { NewThreads } from '../../src/sync/commit/new-threads.ts'
import type { CommentsResult } from '../../src/sync/fetch/result.ts'
import { readComment } from '../../src/sync/record/comment.ts'
import type { CommentRecord } from '../../src/sync/record/comment.ts'
import { receivedBefore } from '../../src/sync/record/received.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const AT = new Date('2026-01-02T03:04:05.678Z')

describe('comments of a new thread', () => {
  test('are stored as they were received, whatever their sizes and the chunks they fall into', async () => {
    const texts = ['', 'x', 'ä'.repeat(40_000), '漢'.repeat(30_000), '😀'.repeat(20_000)]
    const threads = Array.from({ length: 12 }, (_, key) =>
      listing(
        key + 1,
        texts.map((text, id) => comment(id, { commentText: text.repeat(key % 3) })),
      ),
    )
    const newThreads = new NewThreads(AT)
    const added = threads.flatMap((thread) => newThreads.add(thread) ?? [])
    for (const thread of added) expect(thread).toMatchObject({ comments: 5 })
    const { rows: encoded } = newThreads.of(added)
    expect(encoded.chunks.length).toBeGreaterThan(3)

    await transaction(database.pool, (client) => insertComments(client, encoded, [], AT))

    for (const { scope, records } of threads) {
      const stored = await readCommentContents(database.pool, scope.key, null)
      expect(stored.size).toBe(records.length)
      for (const record of records) {
        const row = stored.get(record.commentId)
        const { rest: before, ...texts } = commentColumns(record)
        const { rest, ...storedTexts } = commentColumns(row)
        expect(row?.digest).toEqual(record.digest)
        expect(storedTexts).toEqual(texts)
        expect(JSON.parse(rest ?? 'null')).toEqual(JSON.parse(before ?? 'null'))
      }
    }
    const { rows } = await database.pool.query(
      'select distinct organization_key, first_seen_at, changed_at, version, change from collab_store.comments',
    )
    const seen = { first_seen_at: AT, changed_at: AT, version: 1, change: 'added' }
    expect(rows).toEqual([{ organization_key: 7, ...seen }])
  })

  test('tell each author as the newest of them shows them', () => {
    const newThreads = new NewThreads(AT)
    const by = (id: number, name: string, lastUpdated?: string) =>
      comment(id, { from: { userId: 'u', name }, lastUpdated })
    const threads = [
      listing(1, [by(1, 'old', '2025-01-01T00:00:00Z'), by(2, 'no time')]),
      listing(2, [by(1, 'new', '2025-01-02T00:00:00Z'), comment(2, { from: null })]),
      listing(3, [by(1, 'older', '2024-01-01T00:00:00Z')]),
    ].flatMap((thread) => newThreads.add(thread) ?? [])
    expect(
      [...newThreads.of(threads).authors.values()].map(({ author }) => userColumns(author).name),
    ).toEqual(['new'])
  })

  test('are those of a full listing of something where nothing was stored and which is not long, and no others', () => {
    const newThreads = new NewThreads(AT)
    const full = listing(1, [comment(1)])
    expect(newThreads.add({ ...full, scope: { ...full.scope, hasRows: true } })).toBeNull()
    expect(newThreads.add({ ...full, isListing: false })).toBeNull()
    expect(newThreads.add({ ...full, records: [] })).toBeNull()
    const long = comment(1, { commentText: 'x'.repeat(1024 * 1024 + 1) })
    expect(newThreads.add({ ...full, records: [long] })).toBeNull()
    expect(newThreads.bytes).toBe(0)
    expect(newThreads.of([]).authors.size).toBe(0)
  })
})

function comment(commentId: number, members: object = {}): CommentRecord {
  const text = JSON.stringify({
    commentId,
    commentText: 'x',
    from: { userId: `u${commentId}`, name: 'N' },
    lastUpdated: '2025-01-01T00:00:00.000Z',
    extra: { kept: ['as', 'it', commentId] },
    ...members,
  })
  const item = readComment(receivedBefore(text), 0, () => {})
  if ('fault' in item) throw new Error(item.fault)
  return item.record
}

function listing(key: number, records: readonly CommentRecord[]): CommentsResult {
  const scope: BatchScope = {
    kind: 'annotation',
    key,
    scopeNo: 0,
    organizationKey: 7,
    organizationId: 'o',
    documentId: 'd',
    annotationId: `a${key}`,
    organizationUserGroupId: null,
    bodyDigest: null,
    contentDigest: null,
    recordCount: 0,
    hasRows: false,
    hasOwnCheck: false,
    isFailing: false,
  }
  return {
    outcome: 'comments',
    scope,
    records,
    rejects: [],
    rejectedItems: 0,
    gone: [],
    isListing: true,
    bodyDigest: null,
    contentDigest: null,
    incomplete: null,
  }
}
