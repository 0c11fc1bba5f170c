import type { ComponentChildren } from 'preact'
import { scopePath } from '../../../schemas/format.ts'
import type { SomeThingIds } from '../../../schemas/thing.ts'
import { pathWith } from '../elements.tsx'
import type { Fields } from '../elements.tsx'

/** The IDs as fields of a form or of an address. */
export function idFields(ids: SomeThingIds): Fields {
  const { organizationId, documentId, annotationId, commentId, organizationUserGroupId, userId } =
    ids
  return { organizationId, documentId, annotationId, commentId, organizationUserGroupId, userId }
}

/** The address of the page of an object. */
export function thingPath(ids: SomeThingIds): string {
  return pathWith('/thing', idFields(ids))
}

/** A link to the page of an object, by default with its IDs as a path. */
export function ThingLink({ ids, children }: { ids: SomeThingIds; children?: ComponentChildren }) {
  return (
    <a href={thingPath(ids)}>
      <bdi>{children ?? scopePath(ids)}</bdi>
    </a>
  )
}
