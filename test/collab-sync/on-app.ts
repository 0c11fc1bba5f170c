import type { App } from '../../src/app.ts'
import { collabSyncOn } from '../../src/collab-sync/collab-sync-on.ts'
import type { CollabSync } from '../../src/collab-sync/collab-sync.ts'
import type { Parts } from '../../src/collab-sync/parts.ts'

/** What a program holds, on the parts of an app or others in their place. */
export function onApp(app: App, instead: Partial<Parts> = {}): CollabSync {
  return collabSyncOn({
    database: app.store.database,
    queue: app.queue,
    settings: app.settings,
    log: app.log,
    trigger: 'api',
    ...instead,
  })
}
