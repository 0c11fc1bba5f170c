import pg from 'pg'
import { expect } from 'vitest'
import {
  expectedComments,
  expectedDocumentUsers,
  expectedGroupMembers,
  expectedUsers,
} from '../service/expected.ts'
import type { World } from '../../src/demo/world.ts'
import type { TestDatabase } from './database.ts'
import { until } from './until.ts'

/** Every table of schema collab holds just what the world serves: nothing lost, nothing else, each column equal. */
export async function expectTablesEqual(database: TestDatabase, world: World): Promise<void> {
  const stored = async (text: string) =>
    (await database.pool.query<unknown[]>({ text, rowMode: 'array' })).rows
  expectSame(
    await stored(`select organization_id, document_id, annotation_id, comment_id, comment_text, comment_html, author_user_id,
      author_name, author_email, status, type, last_updated, raw from collab.comments where deleted_at is null`),
    [...expectedComments(world)].map(({ comment, ...place }) => [
      place.organizationId,
      place.documentId,
      place.annotationId,
      comment.commentId,
      comment.commentText,
      comment.commentHtml,
      comment.from?.userId,
      comment.from?.name,
      comment.from?.email,
      comment.status,
      comment.type,
      comment.lastUpdated && new Date(comment.lastUpdated),
      comment,
    ]),
  )
  const counts = await stored(
    `select organization_id, document_id, annotation_id, comment_count,
      (select count(*)::int from collab.comments c where c.deleted_at is null
        and (c.organization_id, c.document_id, c.annotation_id) = (a.organization_id, a.document_id, a.annotation_id)) as live
    from collab.annotations a`,
  )
  expect(counts.filter(([, , , count, live]) => count !== live)).toEqual([])
  expectSame(
    await stored(
      'select organization_id, user_id, name, email, listed, removed_at is not null, raw from collab.users',
    ),
    [...expectedUsers(world)].map((user) => [
      user.organizationId,
      user.userId,
      user.name,
      user.email,
      user.listed,
      user.removed,
      user.raw,
    ]),
  )
  expectSame(
    await stored(
      'select organization_id, document_id, user_id from collab.document_users where removed_at is null',
    ),
    [...expectedDocumentUsers(world)].map((one) => [
      one.organizationId,
      one.documentId,
      one.userId,
    ]),
  )
  expectSame(
    await stored(
      'select organization_id, organization_user_group_id, user_id from collab.user_group_members where removed_at is null',
    ),
    [...expectedGroupMembers(world)].map((member) => [
      member.organizationId,
      member.organizationUserGroupId,
      member.userId,
    ]),
  )
}

/** Compares as sets, by each row's own text with its members in order. */
function expectSame(stored: readonly unknown[][], expected: readonly unknown[][]): void {
  const text = (row: unknown): string =>
    JSON.stringify(row, (_key, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    )
  const storedTexts = new Set(stored.map(text))
  const expectedTexts = new Set(expected.map(text))
  const missing = [...expectedTexts].filter((each) => !storedTexts.has(each))
  const extra = [...storedTexts].filter((each) => !expectedTexts.has(each))
  expect({ missing: missing.slice(0, 3), extra: extra.slice(0, 3), rows: stored.length }).toEqual({
    missing: [],
    extra: [],
    rows: expected.length,
  })
}

const DATA_TABLES = [
  'comments',
  'comment_versions',
  'users',
  'user_versions',
  'document_users',
  'user_group_members',
]

/** Rows ever inserted, updated and deleted in the tables of what the service said. */
export async function rowsTouched(database: TestDatabase): Promise<number> {
  const reader = new pg.Client(database.url)
  await reader.connect()
  try {
    // A session may keep its statistics for ten seconds when it is idle, and hands them in when it ends.
    await until('all other sessions have ended', async () => (await endOthers(reader)) === 0)
    const { rows } = await reader.query(
      `select sum(n_tup_ins + n_tup_upd + n_tup_del)::int as touched
      from pg_stat_user_tables where relname = any($1)`,
      [DATA_TABLES],
    )
    return rows[0].touched
  } finally {
    await reader.end()
  }
}

/** @returns how many other sessions there still were */
async function endOthers(reader: pg.Client): Promise<number> {
  const { rows } = await reader.query(
    `select count(pg_terminate_backend(pid))::int as ended from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  )
  return rows[0].ended
}
