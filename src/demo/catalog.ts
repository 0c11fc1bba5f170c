import type { Place } from './layout.ts'
import type { World } from './world.ts'

/** One line of a catalog: its members say what it is. */
export type CatalogLine =
  | { organizationId: string }
  | { organizationId: string; documentId: string }
  | { organizationId: string; documentId: string; annotationId: string }
  | { organizationId: string; organizationUserGroupId: string }

/** The world's catalog, parents before children. */
export function* catalogLines(world: World): Generator<CatalogLine> {
  for (const organizationId of world.organizationIds()) {
    yield { organizationId }
    for (const organizationUserGroupId of world.groupIds(organizationId)) {
      yield { organizationId, organizationUserGroupId }
    }
    for (const documentId of world.documentIds(organizationId)) {
      yield { organizationId, documentId }
      for (const annotationId of world.annotationIds(organizationId, documentId)) {
        yield { organizationId, documentId, annotationId }
      }
    }
  }
}

/** Every annotation of the world. */
export function* places(world: World): Generator<Place> {
  for (const line of catalogLines(world)) if ('annotationId' in line) yield line
}

/** The line with a name for its last id; annotations have none. */
export function named(line: CatalogLine): CatalogLine {
  const [member, id] = Object.entries(line).at(-1) as [string, string]
  if (member === 'annotationId') return line
  return { ...line, [member.replace('Id', 'Name')]: `Name of ${id}` }
}
