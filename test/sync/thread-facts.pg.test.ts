import { afterAll, beforeAll, expect, test } from 'vitest'
import { commentTexts } from '../helpers/columns.ts'
import { CommentRows } from '../../src/database/comment-rows.ts'
import { insertComments } from '../../src/database/comments.ts'
import { transaction } from '../../src/database/pool.ts'
import { threadFactsOf } from '../../src/sync/compare/comments.ts'
import { CommentRecord } from '../../src/sync/record/comment.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const AUTHORS = [null, 'b', 'B', 'a"\\ {}', 'ﬀ', '😀']
const TIMES = [
  null,
  '0001-01-01T00:00:00.000Z',
  '2026-01-02T03:04:05.678Z',
  '9999-12-31T23:59:59.999Z',
]

test('the facts of a new thread are those that PostgreSQL finds in what was stored of it', async () => {
  const threads = Array.from({ length: 300 }, (_, number) => ({
    organizationKey: 1,
    annotationKey: number + 1,
    notBefore: null,
    comments: Array.from({ length: number % 7 }, (_each, place) => comment(number, place)),
  }))
  const at = new Date()
  await transaction(database.pool, (client) =>
    insertComments(client, new CommentRows(at), threads, at),
  )
  const { rows } = await database.pool.query(
    `select f.* from generate_series(1, $1) n cross join lateral collab_store.thread_facts(n) f order by n`,
    [threads.length],
  )
  const found = rows.map((row) => ({
    firstCommentAt: row.first_comment_at?.toISOString() ?? null,
    lastCommentAt: row.last_comment_at?.toISOString() ?? null,
    firstAnswerAt: row.first_answer_at?.toISOString() ?? null,
    authors: row.authors,
  }))
  expect(threads.map(({ comments }) => threadFactsOf(comments))).toEqual(found)
})

/** Authors and times in ever new combinations. */
function comment(thread: number, place: number): CommentRecord {
  const turn = thread * 31 + place * 17
  const writtenAt = TIMES[(turn >> 4) % TIMES.length] ?? null
  const texts = commentTexts({
    lastUpdated: TIMES[(turn >> 2) % TIMES.length] ?? null,
    authorUserId: AUTHORS[turn % AUTHORS.length] ?? null,
    commentText: 'x',
  })
  return new CommentRecord((place * 5) % 7, texts, null, 0, writtenAt)
}
