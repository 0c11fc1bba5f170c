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

/** The first annotation of the first document of an organization: of the first one where none is given. */
export function firstPlace(world: World, of?: string): Place {
  const organizationId = of ?? [...world.organizationIds()][0] ?? ''
  const [documentId = ''] = world.documentIds(organizationId)
  const [annotationId = ''] = world.annotationIds(organizationId, documentId)
  return { organizationId, documentId, annotationId }
}

/** The scope of a run of one annotation. */
export function scopeOf({ organizationId, documentId, annotationId }: Place) {
  return { organizationIds: [organizationId], documentId, annotationId }
}

/** Makes the service list these comments of an annotation; calls by ID get the comments of the world. */
export function listingComments({ annotationId }: Place, data: readonly unknown[]): FaultRule {
  return listing(
    data,
    (call) =>
      call.operation === 'comments' &&
      !('commentIds' in call.data) &&
      (call.data as Partial<Place>).annotationId === annotationId,
  )
}

/** Makes the service list these users of an organization; those of its documents and groups are the world's. */
export function listingUsers(organizationId: string, data: readonly unknown[]): FaultRule {
  return listing(
    data,
    (call) =>
      call.operation === 'users' &&
      call.data['organizationId'] === organizationId &&
      Object.keys(call.data).length === 1,
  )
}

function listing(data: readonly unknown[], match: NonNullable<FaultRule['match']>): FaultRule {
  return {
    kind: 'custom',
    match,
    respond: (_, response) =>
      response.end(JSON.stringify({ result: { status: 'success', message: '', data } })),
  }
}
