import type { ComponentChildren } from 'preact'
import { scopePath } from '../../../documents/format.ts'
import type { ThingIds } from '../../../documents/thing.ts'
import { pathWith } from '../tables.tsx'

/** The ids of a thing as documents have them: null or absent where there is none. */
type Ids = { readonly [Name in keyof ThingIds]?: ThingIds[Name] | null | undefined }

/** The ids as fields of a form or of an address. */
export function idFields(ids: Ids): Record<string, string | undefined> {
  const text = (value: string | number | null | undefined) => value?.toString()
  return {
    organizationId: text(ids.organizationId),
    documentId: text(ids.documentId),
    annotationId: text(ids.annotationId),
    commentId: text(ids.commentId),
    organizationUserGroupId: text(ids.organizationUserGroupId),
    userId: text(ids.userId),
  }
}

/** The address of the page of a thing. */
export function thingPath(ids: Ids): string {
  return pathWith('/thing', idFields(ids))
}

/** A link to the page of a thing, with its ids as a path unless other words are given. */
export function ThingLink({ ids, children }: { ids: Ids; children?: ComponentChildren }) {
  return <a href={thingPath(ids)}>{children ?? scopePath(ids)}</a>
}
