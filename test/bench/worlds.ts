import { World } from '../../src/demo/world.ts'
import type { WorldSize } from './stand-in.ts'

/** 4,000 annotations with 10 comments each, in 20 organizations: 4,260 calls. */
export const FOUR_THOUSAND: WorldSize = {
  organizations: 20,
  documents: 10,
  annotations: 20,
  comments: 10,
  users: 20,
  groups: 2,
}

/** The same world as the stand-in's process serves. */
export function worldOf(size: WorldSize): World {
  return new World({
    seed: 1,
    organizations: size.organizations,
    documentsPerOrganization: size.documents,
    annotationsPerDocument: size.annotations,
    commentsPerAnnotation: size.comments,
    usersPerOrganization: size.users,
    groupsPerOrganization: size.groups,
    skew: false,
  })
}
