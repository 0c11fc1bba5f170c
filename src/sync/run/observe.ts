import * as observed from '../../database/statements/observed.ts'
import type { SyncContext } from '../context.ts'

/** Milliseconds for one transaction, some seconds where records are as large as they may be. */
const CHANGES_A_STEP = 250

/**
 * Looks through what changed for the members that the records have, so that what is new, gone or of another type is known
 * when the run ends. What the run's share of time does not suffice for, as after a first load, the next runs look through.
 * It never fails: a run is settled whatever its records are like.
 */
export async function observeMembers(
  { database, log }: Pick<SyncContext, 'database' | 'log'>,
  runId: string,
): Promise<void> {
  try {
    const share = await observed.timeFor.first(database, { runId })
    const endMs = performance.now() + (share?.seconds ?? 0) * 1000
    while (performance.now() < endMs) {
      const { hasMore } = await observed.observe.one(database, { maxChanges: CHANGES_A_STEP })
      if (!hasMore) return
    }
  } catch (error) {
    log.warn({ runId, err: error }, 'the members of changed records could not be looked through')
  }
}
