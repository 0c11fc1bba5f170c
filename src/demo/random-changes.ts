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
} from './changes.ts'
import type { Change, ChangeKind } from './changes.ts'
import { writtenText } from './comments.ts'
import { Random } from './random.ts'
import type { Place } from './layout.ts'
import type { World } from './world.ts'

/** How often each kind comes up, of a hundred. */
const SHARES: Record<ChangeKind, number> = {
  edit: 40,
  addComment: 20,
  deleteComment: 15,
  restoreComment: 10,
  addUser: 3,
  removeUser: 3,
  leaveDocument: 3,
  joinGroup: 3,
  renameUser: 3,
}

const EDITED_STATUSES = ['added', 'updated', 'resolved', 'wontFix'] as const
// A draw can hit a place where its kind is impossible (no comment to delete); this many draws a
// change are tried before the world counts as too small for it.
const DRAWS_A_CHANGE = 200

/**
 * Makes `count` changes drawn from `seed`, of all kinds or of `kinds`, and says what they were.
 * The same seed on an equal world makes the same changes. Throws where the world has no place for them.
 */
export function randomChanges(
  world: World,
  { count, seed, kinds }: { count: number; seed: number; kinds?: readonly ChangeKind[] },
): Change[] {
  const random = new Random(seed)
  const bag = (kinds ?? (Object.keys(SHARES) as ChangeKind[])).flatMap((kind) =>
    Array.from({ length: SHARES[kind] }, () => kind),
  )
  const organizationIds = [...world.organizationIds()]
  const changes: Change[] = []
  let draws = 0
  while (changes.length < count) {
    if (draws++ > (count + 1) * DRAWS_A_CHANGE) {
      throw new Error(`the world has no place for ${count} changes of ${bag.join(', ')}`)
    }
    const change = tryChange(world, random.pick(bag), random.pick(organizationIds), random)
    if (change) changes.push(change)
  }
  return changes
}

function tryChange(
  world: World,
  kind: ChangeKind,
  organizationId: string,
  random: Random,
): Change | undefined {
  switch (kind) {
    case 'restoreComment':
      return tryRestore(world, random)
    case 'edit':
    case 'addComment':
    case 'deleteComment':
      return tryComment(world, kind, organizationId, random)
    default:
      return tryPeople(world, kind, organizationId, random)
  }
}

function tryComment(
  world: World,
  kind: 'edit' | 'addComment' | 'deleteComment',
  organizationId: string,
  random: Random,
): Change | undefined {
  const place = randomPlace(world, organizationId, random)
  const comments = place && world.comments(place)
  if (!comments) return undefined
  if (kind === 'addComment') {
    const users = world.documentUsers(organizationId, place.documentId) ?? []
    const from = users.length > 0 ? { from: random.pick(users) } : {}
    return addComment(world, place, { text: writtenText(random), ...from })
  }
  if (comments.length === 0) return undefined
  const { commentId } = random.pick(comments)
  if (kind === 'deleteComment') return deleteComment(world, place, commentId)
  const status = random.next() < 0.4 ? { status: random.pick(EDITED_STATUSES) } : {}
  return edit(world, place, commentId, { text: writtenText(random), ...status })
}

function tryRestore(world: World, random: Random): Change | undefined {
  const changed = [...world.changedThreads()].filter(({ thread }) => thread.deleted.length > 0)
  if (changed.length === 0) return undefined
  const { place, thread } = random.pick(changed)
  return restoreComment(world, place, random.pick(thread.deleted).commentId)
}

function tryPeople(
  world: World,
  kind: 'addUser' | 'removeUser' | 'renameUser' | 'leaveDocument' | 'joinGroup',
  organizationId: string,
  random: Random,
): Change | undefined {
  const users = world.users(organizationId) ?? []
  if (kind === 'addUser') {
    const number = random.below(1_000_000)
    const userId = `new-user-${number}`
    const name = `Newcomer ${number}`
    return addUser(world, organizationId, { userId, name, email: `${userId}@new.example` })
  }
  if (users.length === 0) return undefined
  const { userId } = random.pick(users)
  if (kind === 'removeUser') return removeUser(world, organizationId, userId)
  if (kind === 'renameUser') {
    return renameUser(world, organizationId, userId, `Renamed ${random.below(1_000_000)}`)
  }
  if (kind === 'joinGroup') {
    const groupIds = [...world.groupIds(organizationId)]
    if (groupIds.length === 0) return undefined
    return joinGroup(world, organizationId, random.pick(groupIds), userId)
  }
  const documentId = randomDocumentId(world, organizationId, random)
  const members = documentId === undefined ? [] : world.documentUsers(organizationId, documentId)
  if (documentId === undefined || !members || members.length === 0) return undefined
  return leaveDocument(world, organizationId, documentId, random.pick(members).userId)
}

function randomPlace(world: World, organizationId: string, random: Random): Place | undefined {
  const documentId = randomDocumentId(world, organizationId, random)
  if (documentId === undefined) return undefined
  const annotationIds = [...world.annotationIds(organizationId, documentId)]
  if (annotationIds.length === 0) return undefined
  return { organizationId, documentId, annotationId: random.pick(annotationIds) }
}

function randomDocumentId(world: World, organizationId: string, random: Random) {
  const documentIds = [...world.documentIds(organizationId)]
  return documentIds.length === 0 ? undefined : random.pick(documentIds)
}
