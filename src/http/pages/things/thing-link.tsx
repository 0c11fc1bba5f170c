import type { ComponentChildren } from 'preact'
import { scopePath } from '../../../documents/format.ts'
import { KIND_NAMES, ownId } from '../../../documents/thing.ts'
import type { Beneath, SomeThingIds } from '../../../documents/thing.ts'
import type { Fields } from '../elements.tsx'
import { pathWith } from '../tables.tsx'

/** The ids as fields of a form or of an address. */
export function idFields(ids: SomeThingIds): Fields {
  const { organizationId, documentId, annotationId, commentId, organizationUserGroupId, userId } =
    ids
  return { organizationId, documentId, annotationId, commentId, organizationUserGroupId, userId }
}

/** The address of the page of a thing. */
export function thingPath(ids: SomeThingIds): string {
  return pathWith('/thing', idFields(ids))
}

/** A link to the page of a thing, with its ids as a path unless other words are given. */
export function ThingLink({ ids, children }: { ids: SomeThingIds; children?: ComponentChildren }) {
  return (
    <a href={thingPath(ids)}>
      <bdi>{children ?? scopePath(ids)}</bdi>
    </a>
  )
}

/** A link with the name of a thing, above its kind and id. */
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
