import type { App } from '../../src/worker/app.ts'
import type { CollabSync, Parts } from '../../src/client/collab-sync.ts'
import { collabSyncOn } from '../../src/client/open-collab-sync.ts'

/** What a program holds, on the parts of an app or others in their place. */
export function onApp(app: App, instead: Partial<Parts> = {}): CollabSync {
  return collabSyncOn({
    database: app.store.database,
    queue: app.queue,
    settings: app.settings,
    log: app.log,
    by: 'a test',
    trigger: 'api',
    ...instead,
  })
}
