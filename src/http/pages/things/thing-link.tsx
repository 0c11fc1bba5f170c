import type { ComponentChildren } from 'preact'
import { scopePath } from '../../../documents/format.ts'
import { KIND_NAMES, ownId } from '../../../documents/thing.ts'
import type { Beneath, SomeThingIds } from '../../../documents/thing.ts'
import type { Fields } from '../elements.tsx'
import { pathWith } from '../tables.tsx'

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

/** A link with the name of an object, above its kind and ID. */
export function NamedThing({ kind, ids, name }: Pick<Beneath, 'kind' | 'ids' | 'name'>) {
  const own = ownId(kind, ids)
  return (
    <>
      <ThingLink ids={ids}>{name?.trim() || own}</ThingLink>
      <div class="soft">
        {KIND_NAMES[kind]} {name && own}
      </div>
    </>
  )
}
