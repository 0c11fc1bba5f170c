import type { CollabSync } from '../collab-sync/collab-sync.ts'
import type { Database } from '../database/pool.ts'
import type { Settings } from '../settings/table.ts'

/** What the pages show and act on. */
export interface PageContext {
  readonly collabSync: CollabSync
  /** For what only people ask for; programs do without. */
  readonly database: Database
  readonly settings: Settings
}
