import { SharedCollabSync } from '../../client/collab-sync.ts'
import { requireDefinitions } from '../../core/database/definitions.ts'
import { requireSchema } from '../../core/database/schema.ts'
import { SchemaError, UsageError } from '../../base/errors.ts'
import { checkReach, openQueueLate, startHttp } from '../../http/start-http.ts'
import type { Log } from '../../base/log.ts'
import { keepNotified } from '../../features/notify/notifier.ts'
import { onAbort } from '../../base/abort.ts'
import type { Settings } from '../../settings/table.ts'
import { reportServe } from '../../worker/process.ts'
import type { Store } from '../../worker/store.ts'
import { EXIT } from '../exit.ts'
import { onStopDeadline, stopOnSignals } from '../signals.ts'
import { commandLog, commandSettings, withServiceStore } from '../with-store.ts'

/**
 * `collab-sync serve`: the HTTP server, until SIGTERM or SIGINT. PostgreSQL and the queue can be unreachable, also at its start:
 * responses then say so.
 */
export async function serve({ demo }: { demo?: boolean }): Promise<number> {
  const settings = commandSettings(['database', 'queue', 'http'], demo)
  checkReach(settings)
  const log = commandLog(settings.logLevel)
  const stop = stopOnSignals(
    (signal) => log.info({ signal }, 'stopping: completing the requests in progress'),
    // A second signal changes nothing: stopping takes seconds.
    () => {},
  )
  onStopDeadline((signal, problem) => {
    log.warn({ signal }, problem)
    return EXIT.done
  })
  const opening = { log, stop, name: 'serve', ...(demo && { madeBy: 'demo' as const }) }
  await withServiceStore(settings, opening, async (store) => {
    stop.started()
    await serveOn(store, settings, log, stop.requested)
  })
  return EXIT.done
}

async function serveOn(
  store: Store,
  settings: Settings,
  log: Log,
  requested: AbortSignal,
): Promise<void> {
  const stopping = new Promise<void>((resolve) => onAbort(requested, resolve))
  const queue = openQueueLate(store.queuePlace, log)
  try {
    await Promise.race([queue.wait(), stopping])
    if (requested.aborted) return
    const { database } = store
    // The readiness probe reports other problems.
    await requireSchema(database)
      .then(() => requireDefinitions(database, settings))
      .catch((error: unknown) => {
        const isLasting = error instanceof SchemaError && !error.isPending
        if (isLasting || error instanceof UsageError) throw error
      })
    const parts = { database, queue, settings, log, by: 'http', trigger: 'http' } as const
    const collabSync = new SharedCollabSync(parts)
    const http = await startHttp({ settings, store, queue, collabSync, log })
    log.info({ address: http.url, queue: queue.place.kind }, 'serving')
    // Not awaited, because PostgreSQL can be unreachable. It also reports that no worker is running.
    const reporting = reportServe(database, settings, log)
    const notifying = keepNotified(database, settings, { staysOn: true, log })
    await stopping
    await Promise.all([http.stop(), reporting.stop(), notifying.then((each) => each.stop())])
  } finally {
    await queue.close()
  }
}
