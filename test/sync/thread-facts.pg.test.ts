import { expect, test } from 'vitest'
import { commentTexts } from '../helpers/columns.ts'
import { insertComments } from '../../src/core/database/comments.ts'
import { transaction } from '../../src/core/database/pool.ts'
import type { BatchScope } from '../../src/core/database/scopes.ts'
import { activeAtOf } from '../../src/core/sync/compare/comments.ts'
import { CommentRecord } from '../../src/core/sync/record/comment.ts'
import { createTestDatabase } from '../helpers/database.ts'

/** What reports ask of a thread: collab_store.thread_facts. */

const database = await createTestDatabase()

test('are its first and last time, the first answer of another author, and its authors', async () => {
  const thread = [
    comment(4, 'bob', at(30)),
    comment(1, 'ann', at(10)),
    comment(3, 'cid', at(20)),
    comment(2, 'ann', at(15)),
    comment(5, null, at(12)),
    comment(6, 'dan', null),
  ]
  expect(await factsOf(thread)).toEqual({
    first: at(10),
    last: at(30),
    answer: at(20),
    authors: ['ann', 'bob', 'cid', 'dan'],
  })
})

test('are empty for an empty thread and for one without times or authors', async () => {
  const nothing = { first: null, last: null, answer: null, authors: [] }
  expect(await factsOf([])).toEqual(nothing)
  expect(await factsOf([comment(1, null, null)])).toEqual(nothing)
})

test.each([
  ['only one author wrote', [comment(1, 'ann', at(1)), comment(2, 'ann', at(2))], null],
  ['the first author is unknown', [comment(1, null, at(1)), comment(2, 'bob', at(2))], null],
  [
    'of two at the same time the one with the lower ID has no author',
    [comment(2, 'bob', at(1)), comment(1, null, at(1)), comment(9, 'ann', at(9))],
    null,
  ],
  [
    'of two at the same time the one with the lower ID is the first',
    [comment(2, null, at(1)), comment(1, 'bob', at(1)), comment(9, 'ann', at(9))],
    at(9),
  ],
  [
    'the one with a time is the first',
    [comment(1, 'bob', null), comment(2, 'ann', at(5)), comment(9, 'bob', at(9))],
    at(9),
  ],
])('have an answer or none where %s', async (_where, thread, answer) => {
  expect(await factsOf(thread)).toMatchObject({ answer })
})

test('show when it changed: the newest time of what was written, or the middle of two checks where a deletion may be later', () => {
  const [checkedAt, now] = [new Date(at(0)), new Date(at(20))]
  const changedAt = (minute: number, deleted: readonly number[]) =>
    activeAtOf(
      { added: [comment(1, 'ann', at(minute))], changed: [], deleted },
      { checkedAt } as BatchScope,
      now,
    )
  expect(changedAt(5, [])).toBe(at(5))
  expect(changedAt(5, [9])).toBe(at(10))
  expect(changedAt(15, [9])).toBe(at(15))
})

test('name authors once, in the order of their bytes', async () => {
  const authors = ['\u{1f600}', '\uffee', 'b', 'a', 'é', 'a"\\ {}', 'b']
  const thread = authors.map((author, id) => comment(id, author, at(id)))
  expect((await factsOf(thread)).authors).toEqual(['a', 'a"\\ {}', 'b', 'é', '\uffee', '\u{1f600}'])
})

function at(minute: number): string {
  return `2026-01-02T03:${String(minute).padStart(2, '0')}:00.000Z`
}

function comment(commentId: number, authorUserId: string | null, lastUpdated: string | null) {
  return new CommentRecord(commentId, commentTexts({ authorUserId, lastUpdated }), [], 0)
}

let annotationKey = 0

async function factsOf(comments: readonly CommentRecord[]) {
  const thread = { organizationKey: 1, annotationKey: ++annotationKey, notBefore: null, comments }
  await transaction(database.pool, (client) => insertComments(client, [thread], new Date()))
  const rows = await database.rows('select * from collab_store.thread_facts($1)', annotationKey)
  const {
    first_comment_at: first,
    last_comment_at: last,
    first_answer_at: answer,
    authors,
  } = rows[0]
  const iso = (time: Date | null) => time?.toISOString() ?? null
  return { first: iso(first), last: iso(last), answer: iso(answer), authors }
}
