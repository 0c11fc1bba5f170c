import type { CollabSync } from '../../collab-sync/collab-sync.ts'

/** What the routes of the API work with. */
export interface V1Options {
  readonly collabSync: CollabSync
}
