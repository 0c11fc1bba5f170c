import type { Place } from '../../src/demo/layout.ts'
import type { World } from '../../src/demo/world.ts'
import { current, everyComment, isDeleted, isStale } from './counting.ts'
import type { Asked } from './counting.ts'
import type { Looked } from './knowledge.ts'
import { membersOf } from './life.ts'

/**
 * Compares what the calls returned with the world as it is, directly after a run of everything.
 * @returns the scopes that differ from the world although they are not stale
 */
export function untold(asked: Asked, world: World): string[] {
  const differing: string[] = []
  for (const [key, scope] of asked.known.scopes) {
    if (!scope.inCatalog || isStale(asked, scope)) continue
    const lists = scope.level === 'annotation' ? comments : users
    const [shown, real] = lists(asked, scope, world).map((list) =>
      list.map((one) => JSON.stringify(one)).sort(),
    ) as [string[], string[]]
    if (shown.join() !== real.join())
      differing.push(`${key} shows ${shown.join()} and is not stale; true is ${real.join()}`)
  }
  return differing
}

function comments(asked: Asked, scope: Looked, world: World): unknown[][] {
  const shown = everyComment(asked).filter(({ thread }) => thread === scope)
  return [
    shown
      .filter((comment) => !isDeleted(comment))
      .map((comment) => ({ ...current(comment), commentId: comment.commentId })),
    world.comments(scope.place as Place) ?? [],
  ].map((list) =>
    list.map(({ commentId, status, type, lastUpdated }) => [commentId, status, type, lastUpdated]),
  )
}

function users({ known }: Asked, scope: Looked, world: World): unknown[][] {
  const { organizationId } = scope.place
  const erased = known.erasures.map(({ pseudonym }) => pseudonym)
  const real = membersOf(world, scope.place).filter(
    ({ userId }) => known.erasureOf(organizationId, userId) === undefined,
  )
  if (scope.level !== 'organization') {
    const stays = known.stays.filter(({ listing, until }) => listing === scope && until === null)
    const shown = stays.map(({ userId }) => userId).filter((id) => !erased.includes(id))
    return [shown, real.map(({ userId }) => userId)]
  }
  const listed = [...known.people.values()].flatMap((person) => {
    const now = person.versions.at(-1)
    if (person.organizationId !== organizationId || !now?.listed) return []
    return erased.includes(person.userId) ? [] : [[person.userId, now.name]]
  })
  return [listed, real.map(({ userId, name }) => [userId, name])]
}
