import type { RowOf } from '../../database/statement.ts'
import * as refresh from '../../database/statements/refresh.ts'
import type { Priority } from '../../service/wait.ts'
import { claimLooks, LookedAtBatch } from './looked-at-batch.ts'
import type { BeginLook, Looked, Looking, LooksSoFar } from './looking.ts'

/** Threads to fetch each by itself. */
interface ThreadsToLook {
  readonly keys: readonly number[]
  /** Begin of the looks: none is older. */
  readonly at: Date
  readonly priority: Priority
  readonly begin: BeginLook
  /** Called when a thread was fetched, and what was found is committed. */
  readonly looked: (thread: RowOf<typeof refresh.threads>, looked: Looked) => void
}

/**
 * Begins to fetch threads, one after the other; those that left the catalog are passed over. A thread to whose batch another
 * claim wrote meanwhile is fetched again, after the others.
 * @returns once all are begun; `ended` when all have ended, and rejects with what ends the work: refused credentials, the
 * worker stopping, PostgreSQL away
 */
export async function lookAtThreads(
  looking: Looking,
  soFar: LooksSoFar,
  threads: ThreadsToLook,
): Promise<{ readonly ended: Promise<void> }> {
  const { keys, at, priority, begin, looked } = threads
  const { clock, context } = looking
  const begun: Promise<void>[] = []
  const superseded: number[] = []
  let isFailed = false
  try {
    const drawn = await claimLooks(looking, at)
    for (const thread of await refresh.threads.all(context.database, { keys: [...keys] })) {
      if (isFailed) break
      const { batchKey, batchXmin, key, scopeNo } = thread
      const onlyScopes = '1'.padStart(scopeNo + 1, '0')
      const claim = { ...drawn, batchKey, batchXmin, operation: 'comments' as const, onlyScopes }
      const { ended } = await begin(async () => {
        const batch = new LookedAtBatch(looking, soFar, claim, priority)
        try {
          const found = await batch.look({ ...thread, kind: 'annotation' })
          if ((await batch.end()) !== null) superseded.push(key)
          else looked(thread, found === 'found' && batch.comments === 0 ? 'unchanged' : found)
        } finally {
          batch.close()
        }
      })
      ended.catch(() => (isFailed = true))
      begun.push(ended)
    }
  } catch (error) {
    begun.push(Promise.reject(error as Error))
  }
  const again = async () => {
    if (superseded.length === 0) return
    const now = await clock.now()
    const { ended } = await lookAtThreads(looking, soFar, { ...threads, keys: superseded, at: now })
    await ended
  }
  return { ended: allEnded(begun).then(again) }
}

/** Waits for all, then throws what the first that failed threw. */
export async function allEnded(looks: readonly Promise<void>[]): Promise<void> {
  for (const look of await Promise.allSettled(looks))
    if (look.status === 'rejected') throw look.reason
}
