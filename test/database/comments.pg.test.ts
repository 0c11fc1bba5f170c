import { expect, test } from 'vitest'
import type { CommentColumn } from '../../src/base/columns.ts'
import { insertComments, readCommentContents } from '../../src/core/database/comments.ts'
import type { AnnotationComments } from '../../src/core/database/comment-rows.ts'
import { transaction } from '../../src/core/database/pool.ts'
import { zoneDays } from '../../src/core/database/comment-rows.ts'
import { CommentRecord } from '../../src/core/sync/record/comment.ts'
import { commentColumns, commentTexts } from '../helpers/columns.ts'
import { createTestDatabase } from '../helpers/database.ts'

const database = await createTestDatabase()

const AT = new Date('2026-01-02T03:04:05.678Z')

test('comments are stored as they are, whatever their texts, their sizes and the chunks they fall into', async () => {
  const ascii = Array.from({ length: 127 }, (_, code) => String.fromCharCode(code + 1)).join('')
  const escaped = [
    '\\',
    '\\\\',
    '\t',
    '\n',
    '\r',
    '\r\n',
    '\\N',
    '\\.',
    '\\n',
    '\n\\.\n',
    '\\x00',
    ascii,
  ]
  const plain = ['', ' ', `'"`, '{}', 'null', 'ä漢😀', '\u2028\ufeff\u0085']
  const long = ['ä'.repeat(40_000), '漢'.repeat(30_000), '😀'.repeat(20_000), '\\\n'.repeat(70_000)]
  const texts = [...escaped, ...plain, ...long]
  const threads = texts.map((text, key) =>
    thread(key + 1, [
      ...COLUMNS.map((column, id) => comment(id, { [column]: text })),
      comment(2 ** 53 - 1, { rest: JSON.stringify({ [text]: [text] }) }),
      comment(-5),
    ]),
  )
  await insert(threads)
  for (const { annotationKey, comments } of threads) {
    const stored = await readCommentContents(database.pool, annotationKey, null)
    expect(stored.size).toBe(comments.length)
    for (const each of comments) {
      const row = stored.get(each.commentId)
      const { rest: before, ...columns } = commentColumns(each)
      const { rest, ...storedColumns } = commentColumns(row)
      expect(row?.digest).toEqual(each.digest)
      expect(storedColumns).toEqual(columns)
      expect(JSON.parse(rest ?? 'null')).toEqual(JSON.parse(before ?? 'null'))
    }
  }
  const { rows } = await database.pool.query(
    `select distinct organization_key, first_seen_at, changed_at, version_at, version, change, not_before, written_at, day
    from collab_store.comments`,
  )
  const seen = { first_seen_at: AT, changed_at: AT, version_at: AT, version: 1, change: 'added' }
  const unknown = { not_before: null, written_at: null, day: null }
  expect(rows).toEqual([{ organization_key: 7, ...seen, ...unknown }])
})

test('comments are stored with all their times to the millisecond, and with the day of reports', async () => {
  const times = [
    '0001-01-01T00:00:00.000Z',
    '0099-12-31T23:59:59.999Z',
    '1969-12-31T23:59:59.999Z',
    '2000-02-29T12:00:00.001Z',
    '9999-12-31T23:59:59.999Z',
  ]
  for (const [index, zone] of ['UTC', 'America/New_York', 'Pacific/Kiritimati'].entries()) {
    const annotationKey = 100 + index
    const [notBefore, seenAt] = [new Date('0001-01-01'), new Date('9999-12-31T23:59:59.999Z')]
    const written = times.map((time, id) => comment(id, { lastUpdated: times.at(-1 - id)! }, time))
    const updated = times.map((time, id) => comment(id + 10, { lastUpdated: time }))
    const comments = [...written, ...updated]
    await insert([{ ...thread(annotationKey, comments), notBefore, seenAt }], zone)
    const { rows } = await database.pool.query(
      `select comment_id, written_at, last_updated, first_seen_at, not_before,
        day = (coalesce(written_at, last_updated) at time zone $2)::date as "isItsDay"
      from collab_store.comments where annotation_key = $1 order by comment_id`,
      [annotationKey, zone],
    )
    const dateOf = (time: string | null) => (time === null ? null : new Date(time))
    expect(rows, zone).toEqual(
      comments.map(({ commentId, writtenAt, lastUpdated }) => ({
        comment_id: commentId,
        written_at: dateOf(writtenAt),
        last_updated: dateOf(lastUpdated),
        first_seen_at: seenAt,
        not_before: notBefore,
        isItsDay: true,
      })),
    )
  }
})

const COLUMNS: readonly CommentColumn[] = ['commentText', 'commentHtml', 'authorName', 'status']

function comment(
  commentId: number,
  columns: Partial<Record<CommentColumn, string>> = {},
  writtenAt: string | null = null,
): CommentRecord {
  return new CommentRecord(commentId, commentTexts(columns), [], 0, writtenAt)
}

function thread(annotationKey: number, comments: readonly CommentRecord[]) {
  return { organizationKey: 7, annotationKey, notBefore: null, comments }
}

async function insert(threads: readonly AnnotationComments[], timeZone = 'UTC'): Promise<void> {
  const days = await zoneDays(database.pool, timeZone)
  await transaction(database.pool, (client) => insertComments(client, threads, AT, days))
}
