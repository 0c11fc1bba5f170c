import { createLog } from '../../src/base/log.ts'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import type { Parts } from '../../src/client/parts.ts'
import { SharedCollabSync } from '../../src/client/collab-sync.ts'
import type { Database } from '../../src/core/database/pool.ts'
import type { JobQueue } from '../../src/core/queue/queue.ts'
import { readSettings } from '../../src/settings/settings.ts'
import type { App } from '../../src/worker/app.ts'

/** What a program holds, on the parts of an app or others in their place. */
export function onApp(app: App, instead: Partial<Parts> = {}): CollabSync {
  const { store, queue, settings, log } = app
  return onParts({ database: store.database, queue, settings, log, ...instead })
}

/** What a program holds that gets no further than the database. */
export function onDatabase(database: Database): CollabSync {
  return onParts({
    database,
    queue: undefined as unknown as JobQueue,
    settings: readSettings({}, { need: [], directory: '/nonexistent' }),
    log: createLog('silent'),
  })
}

/** What a program holds on these parts, as a test. */
export function onParts(parts: Omit<Parts, 'by' | 'trigger'> & Partial<Parts>): SharedCollabSync {
  return new SharedCollabSync({ by: 'a test', trigger: 'api', ...parts })
}
