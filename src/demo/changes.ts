import type { Comment } from './comments.ts'
import { htmlOf } from './comments.ts'
import { summary } from './people.ts'
import type { User } from './people.ts'
import type { Place } from './layout.ts'
import type { World } from './world.ts'

/** Gives a comment another text, and another status if one is given; lastUpdated becomes later. */
export function edit(
  world: World,
  place: Place,
  commentId: number,
  to: { text: string; status?: string | undefined },
): void {
  const { live, deleted } = threadOf(world, place)
  const old = commentIn(live, commentId, place)
  const edited: Comment = {
    ...old,
    commentText: to.text,
    commentHtml: htmlOf(to.text),
    lastUpdated: world.tick(),
    status: to.status ?? old.status,
  }
  world.putThread(place, { live: live.map((one) => (one === old ? edited : one)), deleted })
}

/** Adds a comment. @returns its id, which the annotation never had */
export function addComment(
  world: World,
  place: Place,
  by: { text: string; from?: User | undefined },
): number {
  const { live, deleted } = threadOf(world, place)
  const comment: Comment = {
    commentId: freeCommentId([...live, ...deleted]),
    commentText: by.text,
    commentHtml: htmlOf(by.text),
    lastUpdated: world.tick(),
    status: 'added',
    type: 'text',
  }
  if (by.from) comment.from = summary(by.from)
  world.putThread(place, { live: [...live, comment], deleted })
  return comment.commentId
}

/** Deletes a comment: no listing contains it, and the response for its ID is `null`. */
export function deleteComment(world: World, place: Place, commentId: number): void {
  const { live, deleted } = threadOf(world, place)
  const gone = commentIn(live, commentId, place)
  world.putThread(place, { live: live.filter((one) => one !== gone), deleted: [...deleted, gone] })
}

/** Restores a deleted comment with a later lastUpdated. */
export function restoreComment(world: World, place: Place, commentId: number): void {
  const { live, deleted } = threadOf(world, place)
  const gone = commentIn(deleted, commentId, place)
  const back = { ...gone, lastUpdated: world.tick() }
  world.putThread(place, { live: [...live, back], deleted: deleted.filter((one) => one !== gone) })
}

/** Removes a user from one document's listing. */
export function leaveDocument(
  world: World,
  organizationId: string,
  documentId: string,
  userId: string,
): void {
  const ids = (world.documentUsers(organizationId, documentId) ?? []).map((user) => user.userId)
  if (!ids.includes(userId)) throw new Error(`no user ${userId} in ${documentId}`)
  world.putDocumentUsers(
    organizationId,
    documentId,
    ids.filter((id) => id !== userId),
  )
}

/** Adds a listed user to a group. */
export function joinGroup(
  world: World,
  organizationId: string,
  groupId: string,
  userId: string,
): void {
  const ids = (world.groupMembers(organizationId, groupId) ?? []).map((user) => user.userId)
  world.putGroupMembers(organizationId, groupId, [...new Set([...ids, userId])])
}

function threadOf(world: World, place: Place) {
  const thread = world.thread(place)
  if (!thread) throw new Error(`no annotation ${JSON.stringify(place)}`)
  return thread
}

function commentIn(list: readonly Comment[], commentId: number, place: Place): Comment {
  const comment = list.find((one) => one.commentId === commentId)
  if (!comment) throw new Error(`no comment ${commentId} in ${JSON.stringify(place)}`)
  return comment
}

/** Above every ordinary id: the one of 2^53-1 has nothing above it. */
function freeCommentId(comments: readonly Comment[]): number {
  const ids = comments.map(({ commentId }) => commentId)
  return Math.max(99_990, ...ids.filter((id) => id < Number.MAX_SAFE_INTEGER)) + 10
}
