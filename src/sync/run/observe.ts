import * as observed from '../../database/statements/observed.ts'
import type { SyncContext } from '../context.ts'

/** Milliseconds for one transaction, some seconds where records are as large as they may be. */
const CHANGES_A_STEP = 250

/**
 * Looks through what changed for the members that the records have, so that what is new, gone or of another type is known
 * when the run ends. What the run's share of time does not suffice for, as after a first load, the next runs look through.
 * It ends after the step in hand where the worker is stopping, or the run is over or to end early. It never fails: a run is
 * settled whatever its records are like.
 */
export async function observeMembers(
  { database, drained, log }: Pick<SyncContext, 'database' | 'drained' | 'log'>,
  runId: string,
): Promise<void> {
  const begunMs = performance.now()
  try {
    while (!drained.aborted) {
      const share = await observed.timeFor.first(database, { runId })
      if (share === undefined || performance.now() - begunMs > share.seconds * 1000) return
      const { hasMore, passedOver } = await observed.observe.one(database, {
        maxChanges: CHANGES_A_STEP,
      })
      if (passedOver !== null)
        log.warn({ runId, sqlState: passedOver }, 'the members of a change were not looked through')
      if (!hasMore) return
    }
  } catch (error) {
    log.warn({ runId, err: error }, 'the members of changed records could not be looked through')
  }
}
