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

type Row = Record<string, unknown>

/** Every table of schema collab holds just what the world serves: nothing lost, nothing else, each column equal. */
export async function expectTablesEqual(database: TestDatabase, world: World): Promise<void> {
  const rows = async (text: string) => (await database.pool.query(text)).rows as Row[]
  const comments = [...expectedComments(world)].map(
    ({ organizationId, documentId, annotationId, comment }) => ({
      organization_id: organizationId,
      document_id: documentId,
      annotation_id: annotationId,
      comment_id: comment.commentId,
      comment_text: comment.commentText ?? null,
      comment_html: comment.commentHtml ?? null,
      author_user_id: comment.from?.userId ?? null,
      author_name: comment.from?.name ?? null,
      author_email: comment.from?.email ?? null,
      status: comment.status ?? null,
      type: comment.type ?? null,
      last_updated: comment.lastUpdated ?? null,
      raw: comment,
    }),
  )
  const storedComments = await rows(
    `select organization_id, document_id, annotation_id, comment_id, comment_text, comment_html, author_user_id,
      author_name, author_email, status, type, last_updated, raw from collab.comments where deleted_at is null`,
  )
  for (const row of storedComments)
    row['last_updated'] = (row['last_updated'] as Date | null)?.toISOString() ?? null
  expectSame(storedComments, comments)
  const counts = await rows(
    `select organization_id, document_id, annotation_id, comment_count,
      (select count(*)::int from collab.comments c where c.deleted_at is null
        and (c.organization_id, c.document_id, c.annotation_id) = (a.organization_id, a.document_id, a.annotation_id)) as live
    from collab.annotations a`,
  )
  expect(counts.filter((row) => row['comment_count'] !== row['live'])).toEqual([])
  const users = [...expectedUsers(world)].map((user) => ({
    organization_id: user.organizationId,
    user_id: user.userId,
    name: user.name,
    email: user.email,
    listed: user.listed,
    removed: user.removed,
    raw: user.raw,
  }))
  expectSame(
    await rows(
      `select organization_id, user_id, name, email, listed, removed_at is not null as removed, raw from collab.users`,
    ),
    users,
  )
  expectSame(
    await rows(
      'select organization_id, document_id, user_id from collab.document_users where removed_at is null',
    ),
    [...expectedDocumentUsers(world)].map((member) => ({
      organization_id: member.organizationId,
      document_id: member.documentId,
      user_id: member.userId,
    })),
  )
  expectSame(
    await rows(
      'select organization_id, organization_user_group_id, user_id from collab.user_group_members where removed_at is null',
    ),
    [...expectedGroupMembers(world)].map((member) => ({
      organization_id: member.organizationId,
      organization_user_group_id: member.organizationUserGroupId,
      user_id: member.userId,
    })),
  )
}

/** Compares as sets, by each row's own text with its members in order. */
function expectSame(stored: readonly Row[], expected: readonly Row[]): void {
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
