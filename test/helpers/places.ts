import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { World } from '../../src/demo/world.ts'
import type { FaultRule } from '../service/faults.ts'

/** Annotations that have at least so many comments, in documents that have at least so many users. */
export function busyPlaces(world: World, comments = 4, users = 0): Place[] {
  return [...places(world)].filter(
    (place) =>
      (world.comments(place)?.length ?? 0) >= comments &&
      (world.documentUsers(place.organizationId, place.documentId)?.length ?? 0) >= users,
  )
}

/** The first of them. */
export function busyPlace(...of: Parameters<typeof busyPlaces>): Place {
  const [place] = busyPlaces(...of)
  if (place === undefined) throw new Error('the world has no such annotation')
  return place
}

/** The scope of a run of one annotation. */
export function scopeOf({ organizationId, documentId, annotationId }: Place) {
  return { organizationIds: [organizationId], documentId, annotationId }
}

/** Makes the service list these comments of an annotation; calls by ID get the comments of the world. */
export function listingComments({ annotationId }: Place, data: readonly unknown[]): FaultRule {
  return {
    kind: 'custom',
    match: (call) =>
      call.operation === 'comments' &&
      !('commentIds' in call.data) &&
      (call.data as Partial<Place>).annotationId === annotationId,
    respond: (_, response) =>
      response.end(JSON.stringify({ result: { status: 'success', message: '', data } })),
  }
}
