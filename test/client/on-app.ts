import type { App } from '../../src/worker/app.ts'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import type { Parts } from '../../src/client/parts.ts'
import { SharedCollabSync } from '../../src/client/collab-sync.ts'

/** What a program holds, on the parts of an app or others in their place. */
export function onApp(app: App, instead: Partial<Parts> = {}): CollabSync {
  return new SharedCollabSync({
    database: app.store.database,
    queue: app.queue,
    settings: app.settings,
    log: app.log,
    by: 'a test',
    trigger: 'api',
    ...instead,
  })
}
