import {
  addComment,
  deleteComment,
  edit,
  joinGroup,
  leaveDocument,
  restoreComment,
} from './changes.ts'
import { places } from './catalog.ts'
import { writtenText } from './comments.ts'
import { Random } from './random.ts'
import type { Place } from './layout.ts'
import type { World } from './world.ts'

/** Makes a change at an annotation that has comments, or near it. @returns false if that is not possible */
type Make = (world: World, place: Place, random: Random) => boolean | void

const MAKE = {
  edit(world, place, random) {
    const { commentId } = random.pick(world.comments(place) ?? [])
    const status = random.next() < 0.4 ? undefined : 'updated'
    edit(world, place, commentId, { text: writtenText(random), status })
  },
  addComment(world, place, random) {
    const from = random.pick(world.documentUsers(place.organizationId, place.documentId) ?? [])
    addComment(world, place, { text: writtenText(random), from })
  },
  deleteComment(world, place, random) {
    deleteComment(world, place, random.pick(world.comments(place) ?? []).commentId)
  },
  restoreComment(world, _, random) {
    const changed = [...world.changedThreads()].filter(({ thread }) => thread.deleted.length > 0)
    if (changed.length === 0) return false
    const { place, thread } = random.pick(changed)
    restoreComment(world, place, random.pick(thread.deleted).commentId)
  },
  addUser(world, { organizationId }, random) {
    const userId = `new-user-${random.below(1_000_000)}`
    world.putUser(organizationId, { userId, name: userId, email: `${userId}@new.example` })
  },
  removeUser(world, { organizationId }, random) {
    const users = world.users(organizationId) ?? []
    if (users.length < 2) return false
    world.dropUser(organizationId, random.pick(users).userId)
  },
  renameUser(world, { organizationId }, random) {
    const name = `Renamed ${random.below(1_000_000)}`
    world.putUser(organizationId, { ...random.pick(world.users(organizationId) ?? []), name })
  },
  leaveDocument(world, { organizationId, documentId }, random) {
    const users = world.documentUsers(organizationId, documentId) ?? []
    if (users.length < 2) return false
    leaveDocument(world, organizationId, documentId, random.pick(users).userId)
  },
  joinGroup(world, { organizationId }, random) {
    const groupIds = [...world.groupIds(organizationId)]
    const { userId } = random.pick(world.users(organizationId) ?? [])
    joinGroup(world, organizationId, random.pick(groupIds), userId)
  },
} satisfies Record<string, Make>

export type ChangeKind = keyof typeof MAKE

const OF_PEOPLE = ['addUser', 'leaveDocument', 'joinGroup', 'renameUser', 'removeUser'] as const
/** The kinds in turn. Half of the deleted comments are restored. */
const TURNS: readonly ChangeKind[] = OF_PEOPLE.flatMap((kind) => [
  ...(['edit', 'addComment', 'edit', 'deleteComment', kind] as const),
  ...(['edit', 'addComment', 'edit', 'deleteComment', 'restoreComment'] as const),
])

/**
 * Makes up to `count` changes at places drawn from `seed`, of all kinds or of `kinds`.
 * @returns the kinds of the changes made
 */
export function randomChanges(
  world: World,
  { count, seed, kinds }: { count: number; seed: number; kinds?: readonly ChangeKind[] },
): ChangeKind[] {
  const random = new Random(seed)
  const all = [...places(world)]
  const turns = TURNS.filter((kind) => kinds?.includes(kind) ?? true)
  return Array.from(
    { length: count },
    (_, turn) => turns[turn % turns.length] as ChangeKind,
  ).filter((kind) => {
    let place = random.pick(all)
    while (!world.comments(place)?.length) place = random.pick(all)
    return MAKE[kind](world, place, random) !== false
  })
}
