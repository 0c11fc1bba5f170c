import { expect } from 'vitest'
import {
  expectedComments,
  expectedDeletedComments,
  expectedDocumentUsers,
  expectedGroupMembers,
} from '../service/expected.ts'
import type { World } from '../../src/demo/world.ts'
import type { TestDatabase } from '../helpers/database.ts'

/**
 * What is live in the tables is what the world serves, by its `raw`. Says nothing of users who left before anybody saw
 * them, which `expectTablesEqual` would: between two runs a random change can add and remove the same one.
 */
export async function expectServed(database: TestDatabase, world: World): Promise<void> {
  expect(await keysOf(database, LIVE.comments)).toEqual(
    sorted(
      [...expectedComments(world)].map((each) => [
        each.organizationId,
        each.documentId,
        each.annotationId,
        each.commentId,
        each.comment,
      ]),
    ),
  )
  const listed = [...world.organizationIds()].flatMap((organizationId) =>
    (world.users(organizationId) ?? []).map((user) => [organizationId, user.userId, user]),
  )
  expect(await keysOf(database, LIVE.users)).toEqual(sorted(listed))
  expect(await keysOf(database, LIVE.documentUsers)).toEqual(
    sorted([...expectedDocumentUsers(world)].map((each) => Object.values(each))),
  )
  expect(await keysOf(database, LIVE.groupMembers)).toEqual(
    sorted([...expectedGroupMembers(world)].map((each) => Object.values(each))),
  )
}

/** The comments that the service answers null for, as keys for `expectNothingLost`. */
export function deletedComments(world: World): string[] {
  return sorted(
    [...expectedDeletedComments(world)].map((each) => [
      each.organizationId,
      each.documentId,
      each.annotationId,
      each.commentId,
    ]),
  )
}

/**
 * Nothing is marked removed or gone that the service still serves, and no comment deleted that it did not delete itself.
 * @param everDeleted comments that the service answered null for at some time: one may be back and not be asked for yet
 */
export async function expectNothingLost(
  database: TestDatabase,
  world: World,
  everDeleted: ReadonlySet<string>,
): Promise<void> {
  const members = [...world.organizationIds()].flatMap((organizationId) =>
    (world.users(organizationId) ?? []).map(({ userId }) => [organizationId, userId]),
  )
  const documentUsers = [...expectedDocumentUsers(world)].map((each) => Object.values(each))
  const groupMembers = [...expectedGroupMembers(world)].map((each) => Object.values(each))
  const isIn = (keys: readonly string[]) => (key: string) => keys.includes(key)
  const comments = await keysOf(database, GONE.comments)
  expect(comments.filter((key) => !everDeleted.has(key))).toEqual([])
  expect((await keysOf(database, GONE.users)).filter(isIn(sorted(members)))).toEqual([])
  expect((await keysOf(database, GONE.documentUsers)).filter(isIn(sorted(documentUsers)))).toEqual(
    [],
  )
  expect((await keysOf(database, GONE.groupMembers)).filter(isIn(sorted(groupMembers)))).toEqual([])
}

const COMMENT_KEY = 'organization_id, document_id, annotation_id, comment_id'
const MEMBER_KEY = 'organization_id, organization_user_group_id, user_id'

const LIVE = {
  comments: `select ${COMMENT_KEY}, raw from collab.comments where deleted_at is null`,
  users: 'select organization_id, user_id, raw from collab.users where listed',
  documentUsers:
    'select organization_id, document_id, user_id from collab.document_users where removed_at is null',
  groupMembers: `select ${MEMBER_KEY} from collab.user_group_members where removed_at is null`,
}

const GONE = {
  comments: `select ${COMMENT_KEY} from collab.comments where deleted_at is not null`,
  users: 'select organization_id, user_id from collab.users where removed_at is not null',
  documentUsers:
    'select organization_id, document_id, user_id from collab.document_users where removed_at is not null',
  groupMembers: `select ${MEMBER_KEY} from collab.user_group_members where removed_at is not null`,
}

async function keysOf(database: TestDatabase, text: string): Promise<string[]> {
  const { rows } = await database.pool.query({ text, rowMode: 'array' })
  return sorted(rows)
}

/** Rows as texts with the members of every object in order. */
function sorted(rows: readonly unknown[]): string[] {
  const inOrder = (_name: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value
  return rows.map((row) => JSON.stringify(row, inOrder)).sort()
}
