import { places } from '../../src/demo/catalog.ts'
import type { Comment } from '../../src/demo/comments.ts'
import type { User } from '../../src/demo/people.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { World } from '../../src/demo/world.ts'

export interface ExpectedComment extends Place {
  commentId: number
  /** As served, unknown members included. */
  comment: Comment
}

export interface ExpectedUser {
  organizationId: string
  userId: string
  name: string | null
  email: string | null
  listed: boolean
  /** Was in the organization's listing once and left it. */
  removed: boolean
  /** As served: by the listing, else by the document's listing, else as a comment's `from`. */
  raw: User
}

/** Every comment that the service serves. */
export function* expectedComments(world: World): Generator<ExpectedComment> {
  for (const place of places(world)) {
    for (const comment of world.comments(place) ?? []) {
      yield { ...place, commentId: comment.commentId, comment }
    }
  }
}

/** Every comment that was deleted and is not back, as last served. */
export function* expectedDeletedComments(world: World): Generator<ExpectedComment> {
  for (const { place, thread } of world.changedThreads()) {
    for (const comment of thread.deleted) {
      yield { ...place, commentId: comment.commentId, comment }
    }
  }
}

/**
 * Every user that the tables should know: those listed, those who left the listing, and the
 * members and authors who are in no listing. One who left is expected as last listed, although a
 * sync that began after the removal can know them, if at all, from their comments only.
 */
export function* expectedUsers(world: World): Generator<ExpectedUser> {
  for (const organizationId of world.organizationIds()) {
    const known = new Map<string, ExpectedUser>()
    const learn = (raw: User, listed: boolean, removed: boolean) => {
      if (known.has(raw.userId)) return
      const { userId, name = null, email = null } = raw
      known.set(userId, { organizationId, userId, name, email, listed, removed, raw })
    }
    for (const user of world.users(organizationId) ?? []) learn(user, true, false)
    for (const user of world.removedUsers(organizationId)) learn(user, false, true)
    for (const user of unlistedPeople(world, organizationId)) learn(user, false, false)
    yield* known.values()
  }
}

export function* expectedDocumentUsers(
  world: World,
): Generator<{ organizationId: string; documentId: string; userId: string }> {
  for (const organizationId of world.organizationIds()) {
    for (const documentId of world.documentIds(organizationId)) {
      for (const { userId } of world.documentUsers(organizationId, documentId) ?? []) {
        yield { organizationId, documentId, userId }
      }
    }
  }
}

export function* expectedGroupMembers(
  world: World,
): Generator<{ organizationId: string; organizationUserGroupId: string; userId: string }> {
  for (const organizationId of world.organizationIds()) {
    for (const organizationUserGroupId of world.groupIds(organizationId)) {
      for (const { userId } of world.groupMembers(organizationId, organizationUserGroupId) ?? []) {
        yield { organizationId, organizationUserGroupId, userId }
      }
    }
  }
}

function* unlistedPeople(world: World, organizationId: string): Generator<User> {
  for (const documentId of world.documentIds(organizationId)) {
    yield* world.documentUsers(organizationId, documentId) ?? []
  }
  for (const groupId of world.groupIds(organizationId)) {
    yield* world.groupMembers(organizationId, groupId) ?? []
  }
  for (const documentId of world.documentIds(organizationId)) {
    for (const annotationId of world.annotationIds(organizationId, documentId)) {
      const comments = world.comments({ organizationId, documentId, annotationId }) ?? []
      for (const { from } of comments) if (from) yield from
    }
  }
}
