import { describe, expect, test } from 'vitest'
import {
  addComment,
  addUser,
  deleteComment,
  edit,
  joinGroup,
  leaveDocument,
  removeUser,
  renameUser,
  restoreComment,
} from '../../src/demo/changes.ts'
import {
  expectedComments,
  expectedDeletedComments,
  expectedDocumentUsers,
  expectedGroupMembers,
  expectedUsers,
} from '../service/expected.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { createWorld } from '../../src/demo/world.ts'
import type { World } from '../../src/demo/world.ts'

const options = {
  seed: 3,
  organizations: 3,
  documentsPerOrganization: 4,
  annotationsPerDocument: 6,
  commentsPerAnnotation: 4,
  usersPerOrganization: 20,
  groupsPerOrganization: 3,
}
const place = { organizationId: 'org-0', documentId: 'doc-0', annotationId: 'ann-0' }

function firstId(world: World): number {
  return world.comments(place)?.[0]?.commentId as number
}

describe('a change to comments', () => {
  test('edits text, HTML and status, bumps lastUpdated and leaves the neighbours alone', () => {
    const world = createWorld(options)
    const [old, ...others] = world.comments(place) ?? []
    edit(world, place, firstId(world), { text: 'a < b', status: 'resolved' })
    const [now, ...still] = world.comments(place) ?? []
    expect(now).toMatchObject({ commentText: 'a < b', commentHtml: '<p>a &lt; b</p>' })
    expect(now).toMatchObject({ commentId: old?.commentId, status: 'resolved', from: old?.from })
    expect(Date.parse(now?.lastUpdated ?? '')).toBeGreaterThan(Date.parse(old?.lastUpdated ?? ''))
    expect(still).toEqual(others)
  })

  test('adds a comment under an id that the annotation never had, not even a deleted one', () => {
    const world = createWorld(options)
    const first = addComment(world, place, { text: 'one' })
    deleteComment(world, place, (first as { commentId: number }).commentId)
    const second = addComment(world, place, { text: 'two' })
    expect(second).not.toEqual(first)
    const ids = world.comments(place)?.map((comment) => comment.commentId)
    expect(new Set(ids).size).toBe(ids?.length)
    expect(ids).toContain(Number.MAX_SAFE_INTEGER)
  })

  test('deletes a comment and brings it back as it was, but for its lastUpdated', () => {
    const world = createWorld(options)
    const old = world.comments(place)?.[0]
    const id = firstId(world)
    deleteComment(world, place, id)
    expect([...expectedDeletedComments(world)]).toEqual([{ ...place, commentId: id, comment: old }])
    expect([...expectedComments(world)].map((row) => row.comment)).not.toContainEqual(old)
    restoreComment(world, place, id)
    expect([...expectedDeletedComments(world)]).toEqual([])
    const back = world.comments(place)?.find((comment) => comment.commentId === id)
    expect({ ...back, lastUpdated: old?.lastUpdated }).toEqual(old)
    expect(back?.lastUpdated).not.toBe(old?.lastUpdated)
  })

  test('names the comment or annotation that is not there', () => {
    const world = createWorld(options)
    expect(() => deleteComment(world, place, 1)).toThrow(/no comment 1/)
    expect(() => restoreComment(world, place, firstId(world))).toThrow(/no comment/)
    const nowhere = { ...place, annotationId: 'ann-77' }
    expect(() => addComment(world, nowhere, { text: 'x' })).toThrow(/no annotation/)
  })
})

describe('a change to people', () => {
  test('adds, renames and removes a user in the listing of that organization only', () => {
    const world = createWorld(options)
    const other = world.users('株式会社 2')
    addUser(world, 'org-0', { userId: 'late', name: 'Late' })
    renameUser(world, 'org-0', 'user-1', 'New Name')
    removeUser(world, 'org-0', 'user-0')
    const users = new Map(world.users('org-0')?.map((user) => [user.userId, user.name]))
    expect(users.get('late')).toBe('Late')
    expect(users.get('user-1')).toBe('New Name')
    expect(users.has('user-0')).toBe(false)
    expect(world.users('株式会社 2')).toEqual(other)
  })

  test('takes a removed user out of documents and groups, and expects it as one who left', () => {
    const world = createWorld(options)
    const [member] = expectedDocumentUsers(world)
    const { organizationId, userId } = member as { organizationId: string; userId: string }
    joinGroup(world, organizationId, 'group-0', userId)
    const name = world.users(organizationId)?.find((user) => user.userId === userId)?.name
    removeUser(world, organizationId, userId)
    const rows = [...expectedDocumentUsers(world), ...expectedGroupMembers(world)]
    const isIts = (row: { organizationId: string; userId: string }) =>
      row.organizationId === organizationId && row.userId === userId
    expect(rows.filter(isIts)).toEqual([])
    const expected = [...expectedUsers(world)].find(isIts)
    expect(expected).toMatchObject({ listed: false, removed: true, name: name ?? null })
    addUser(world, organizationId, { userId })
    expect([...expectedUsers(world)].find(isIts)).toMatchObject({ listed: true, removed: false })
  })

  test('lets a user leave one document and stay in the organization', () => {
    const world = createWorld(options)
    const userId = world.documentUsers('org-0', 'doc-0')?.[0]?.userId as string
    leaveDocument(world, 'org-0', 'doc-0', userId)
    const left = world.documentUsers('org-0', 'doc-0')?.map((user) => user.userId)
    expect(left).not.toContain(userId)
    expect(world.users('org-0')?.map((user) => user.userId)).toContain(userId)
    expect(() => leaveDocument(world, 'org-0', 'doc-0', userId)).toThrow(/no user/)
  })
})

describe('random changes', () => {
  test('are the same for the same seed, of every kind, and as many as asked for', () => {
    const one = createWorld(options)
    const two = createWorld(options)
    const changes = randomChanges(one, { count: 300, seed: 5 })
    expect(randomChanges(two, { count: 300, seed: 5 })).toEqual(changes)
    expect(changes).toHaveLength(300)
    expect(new Set(changes.map((change) => change.kind)).size).toBe(9)
    expect([...expectedComments(one)]).toEqual([...expectedComments(two)])
    expect([...expectedUsers(one)]).toEqual([...expectedUsers(two)])
    expect([...expectedComments(one)]).not.toEqual([...expectedComments(createWorld(options))])
  })

  test('say so when the world has no place for them', () => {
    const world = createWorld({ ...options, commentsPerAnnotation: 0, skew: false })
    const order = { count: 1, seed: 1, kinds: ['edit' as const] }
    expect(() => randomChanges(world, order)).toThrow(/no place for 1 changes of edit/)
  })
})
