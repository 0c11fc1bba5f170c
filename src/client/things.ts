import type { Thing } from '../documents/thing.ts'
import type { CollabSync, Parts } from './collab-sync.ts'

/** Reading what is stored of one thing. */
export function thingsOn(
  _parts: Pick<Parts, 'database' | 'settings'>,
): Pick<CollabSync, 'getThing'> {
  return {
    async getThing(): Promise<Thing | null> {
      return null
    },
  }
}
