import type { Comment } from './comments.ts'
import { htmlOf } from './comments.ts'
import { summary } from './people.ts'
import type { User } from './people.ts'
import type { Place } from './layout.ts'
import type { World } from './world.ts'

/** What one change did, for a test that wants to know. */
export type Change =
  | ({ kind: 'edit' | 'addComment' | 'deleteComment' | 'restoreComment' } & Place & {
        commentId: number
      })
  | { kind: 'addUser' | 'removeUser' | 'renameUser'; organizationId: string; userId: string }
  | { kind: 'leaveDocument'; organizationId: string; documentId: string; userId: string }
  | {
      kind: 'joinGroup'
      organizationId: string
      organizationUserGroupId: string
      userId: string
    }

export type ChangeKind = Change['kind']

/** Gives a served comment another text, and another status where one is given. Bumps lastUpdated. */
export function edit(
  world: World,
  place: Place,
  commentId: number,
  to: { text: string; status?: string },
): Change {
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
  return { kind: 'edit', ...place, commentId }
}

/** Adds a comment with an id that the annotation never had. */
export function addComment(world: World, place: Place, by: { text: string; from?: User }): Change {
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
  return { kind: 'addComment', ...place, commentId: comment.commentId }
}

/** Takes a comment away: it is in no listing, and `null` when asked for by its id. */
export function deleteComment(world: World, place: Place, commentId: number): Change {
  const { live, deleted } = threadOf(world, place)
  const gone = commentIn(live, commentId, place)
  world.putThread(place, { live: live.filter((one) => one !== gone), deleted: [...deleted, gone] })
  return { kind: 'deleteComment', ...place, commentId }
}

/** Brings a deleted comment back as it was, but for its lastUpdated. */
export function restoreComment(world: World, place: Place, commentId: number): Change {
  const { live, deleted } = threadOf(world, place)
  const gone = commentIn(deleted, commentId, place)
  const back = { ...gone, lastUpdated: world.tick() }
  world.putThread(place, { live: [...live, back], deleted: deleted.filter((one) => one !== gone) })
  return { kind: 'restoreComment', ...place, commentId }
}

/** Adds a user to the organization's listing; a removed one comes back to documents and groups too. */
export function addUser(world: World, organizationId: string, user: User): Change {
  world.putUser(organizationId, user)
  return { kind: 'addUser', organizationId, userId: user.userId }
}

/** Takes a user out of the organization's listing and those of its documents and groups. */
export function removeUser(world: World, organizationId: string, userId: string): Change {
  world.dropUser(organizationId, userId)
  return { kind: 'removeUser', organizationId, userId }
}

/** Renames a listed user. Comments keep the name under which they were written: a `from` is a copy. */
export function renameUser(
  world: World,
  organizationId: string,
  userId: string,
  name: string,
): Change {
  const user = world.users(organizationId)?.find((one) => one.userId === userId)
  if (!user) throw new Error(`no user ${userId} in ${organizationId}`)
  world.putUser(organizationId, { ...user, name })
  return { kind: 'renameUser', organizationId, userId }
}

/** Takes a user out of one document's listing. */
export function leaveDocument(
  world: World,
  organizationId: string,
  documentId: string,
  userId: string,
): Change {
  const ids = idsOf(world.documentUsers(organizationId, documentId), documentId)
  if (!ids.includes(userId)) throw new Error(`no user ${userId} in ${documentId}`)
  world.putDocumentUsers(
    organizationId,
    documentId,
    ids.filter((id) => id !== userId),
  )
  return { kind: 'leaveDocument', organizationId, documentId, userId }
}

/** Adds a listed user to a group. */
export function joinGroup(
  world: World,
  organizationId: string,
  organizationUserGroupId: string,
  userId: string,
): Change {
  const ids = idsOf(
    world.groupMembers(organizationId, organizationUserGroupId),
    organizationUserGroupId,
  )
  if (!ids.includes(userId)) {
    world.putGroupMembers(organizationId, organizationUserGroupId, [...ids, userId])
  }
  return { kind: 'joinGroup', organizationId, organizationUserGroupId, userId }
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

function idsOf(users: readonly User[] | undefined, of: string): string[] {
  if (!users) throw new Error(`no listing of ${of}`)
  return users.map((user) => user.userId)
}

/** Above every ordinary id: the one of 2^53-1 has nothing above it. */
function freeCommentId(comments: readonly Comment[]): number {
  let highest = 99_990
  for (const { commentId } of comments) {
    if (commentId < Number.MAX_SAFE_INTEGER) highest = Math.max(highest, commentId)
  }
  return highest + 10
}
