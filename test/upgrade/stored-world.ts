import { addComment, deleteComment, edit } from '../../src/demo/changes.ts'
import type { Place, WorldOptions } from '../../src/demo/layout.ts'
import type { World } from '../../src/demo/world.ts'

/** The world that the stored database was filled from. It is made again for each test, so its changes must stay as they are. */
export const STORED_WORLD: WorldOptions = {
  seed: 11,
  organizations: 4,
  documentsPerOrganization: 2,
  annotationsPerDocument: 2,
  commentsPerAnnotation: 3,
  usersPerOrganization: 5,
  groupsPerOrganization: 1,
}

/** Erased before the database was stored. */
export const ERASED = { userId: 'erased-17', name: 'Wilma Erased', email: 'wilma@erased.example' }

/** What changed after the first run, and after the second. */
export const CHANGES: readonly ((world: World) => void)[] = [changeWorld, restoreMembers]

function changeWorld(world: World): void {
  const { organizationId, documentId } = firstPlace(world)
  const [edited, deleted] = (world.comments(firstPlace(world)) ?? []).map((each) => each.commentId)
  edit(world, firstPlace(world), edited ?? 0, { text: 'Edited words' })
  deleteComment(world, firstPlace(world), deleted ?? 0)
  addComment(world, firstPlace(world), { text: 'Words of the erased', from: ERASED })
  const [user] = world.documentUsers(organizationId, documentId) ?? []
  if (user === undefined) throw new Error('The document has no users.')
  world.putDocumentUsers(organizationId, documentId, [user.userId])
  world.putUser(organizationId, { ...user, name: 'Renamed' })
  world.putUser(organizationId, { ...ERASED })
}

function restoreMembers(world: World): void {
  const { organizationId, documentId } = firstPlace(world)
  const all = world.users(organizationId) ?? []
  world.putDocumentUsers(
    organizationId,
    documentId,
    all.map(({ userId }) => userId),
  )
}

export function firstPlace(world: World): Place {
  const [organizationId = ''] = world.organizationIds()
  const [documentId = ''] = world.documentIds(organizationId)
  const [annotationId = ''] = world.annotationIds(organizationId, documentId)
  return { organizationId, documentId, annotationId }
}
