import { collabSyncOn } from '../../collab-sync/collab-sync-on.ts'
import { migrate } from '../../database/migrate.ts'
import { openQueueLate } from '../../http/late-queue.ts'
import { checkReach, startHttp } from '../../http/start-http.ts'
import { createLog } from '../../log.ts'
import { readSettings } from '../../settings/settings.ts'
import { openStore } from '../../store.ts'
import { EXIT } from '../exit-code.ts'
import { onSignals } from '../signals.ts'
import { openTracing } from '../traced.ts'

/**
 * `collab-sync serve`: the HTTP side, until SIGTERM or SIGINT. Neither PostgreSQL nor the queue need be there, at its start
 * or later: what needs them says that they are away.
 */
export async function serve(): Promise<number> {
  const settings = readSettings(process.env, { need: ['database', 'queue', 'http'] })
  checkReach(settings)
  const log = createLog(settings.logLevel)
  const told = toldToStop((signal) =>
    log.info({ signal }, 'stopping: requests in hand are answered'),
  )
  const stopTracing = await openTracing(settings, log)
  const store = await openStore(settings, { log, applicationName: 'serve' })
  try {
    if (store.isNew) await migrate(store.databaseUrl)
    const queue = openQueueLate(store.queuePlace, log)
    try {
      await queue.wait()
      const { database } = store
      const collabSync = collabSyncOn({ database, queue, settings, log, trigger: 'http' })
      const http = await startHttp({ settings, store, queue, collabSync, log })
      log.info({ address: http.url, queue: queue.place.kind }, 'serving')
      await told.stop
      await http.stop()
    } finally {
      await queue.close()
    }
  } finally {
    await store.close()
    await stopTracing()
    told.forget()
  }
  log.info('stopped')
  return EXIT.done
}

/** Resolves with the first signal; further ones change nothing, since stopping takes seconds at most. */
function toldToStop(hear: (signal: NodeJS.Signals) => void) {
  let forget = () => {}
  const stop = new Promise<void>((resolve) => {
    forget = onSignals(
      (signal) => {
        hear(signal)
        resolve()
      },
      () => {},
    )
  })
  return { stop, forget }
}
