import type { RowOf } from '../../database/statement.ts'
import * as refresh from '../../database/statements/refresh.ts'
import type { Priority } from '../../service/wait.ts'
import { claimLooks, LookedAtBatch } from './looked-at-batch.ts'
import type { LookClaim } from './looked-at-batch.ts'
import type { BeginLook, Looked, Looking, LooksSoFar } from './looking.ts'

/** A thread as it is fetched by itself. */
export type ThreadToLook = RowOf<typeof refresh.threads>

/** Threads to fetch each by itself. */
interface ThreadsToLook {
  readonly keys: readonly number[]
  /** Begin of the looks: none is older. */
  readonly at: Date
  readonly priority: Priority
  readonly begin: BeginLook
  /** Called when a thread was fetched, and what was found is committed. */
  readonly looked: (thread: ThreadToLook, looked: Looked) => void
}

/**
 * Begins to fetch threads, one after the other; those that left the catalog are passed over.
 * @returns once all are begun; `ended` when all have ended
 * @throws `ended` what ends the work: refused credentials, the worker stopping, PostgreSQL away
 */
export async function lookAtThreads(
  looking: Looking,
  soFar: LooksSoFar,
  { keys, at, priority, begin, looked }: ThreadsToLook,
): Promise<{ readonly ended: Promise<void> }> {
  const begun: Promise<void>[] = []
  let isFailed = false
  try {
    const claim = await claimLooks(looking, at)
    for (const thread of await refresh.threads.all(looking.context.database, { keys: [...keys] })) {
      if (isFailed) break
      const { ended } = await begin(async () => {
        looked(thread, await lookAtThread(looking, soFar, { thread, claim, priority }))
      })
      ended.catch(() => (isFailed = true))
      begun.push(ended)
    }
  } catch (error) {
    begun.push(Promise.reject(error as Error))
  }
  return { ended: allEnded(begun) }
}

/** Fetches one thread; again where another claim wrote to its batch meanwhile. */
async function lookAtThread(
  looking: Looking,
  soFar: LooksSoFar,
  first: { readonly thread: ThreadToLook; readonly claim: LookClaim; readonly priority: Priority },
): Promise<Looked> {
  let { thread, claim } = first
  for (;;) {
    const { batchKey, batchXmin, key, scopeNo } = thread
    const onlyScopes = '1'.padStart(scopeNo + 1, '0')
    const own = { ...claim, batchKey, batchXmin, operation: 'comments' as const, onlyScopes }
    const batch = new LookedAtBatch(looking, soFar, own, first.priority)
    try {
      const looked = await batch.look({ ...thread, kind: 'annotation' })
      if ((await batch.end()) === null)
        return looked === 'found' && batch.comments === 0 ? 'unchanged' : looked
    } finally {
      batch.close()
    }
    const at = await looking.clock.now()
    const now = await refresh.threads.first(looking.context.database, { keys: [key] })
    if (now === undefined) return 'unchanged'
    thread = now
    claim = await claimLooks(looking, at)
    await looking.budget.acquire(looking.context.drained, first.priority)
  }
}

/** Waits for all, then throws what the first that failed threw. */
export async function allEnded(looks: readonly Promise<void>[]): Promise<void> {
  for (const look of await Promise.allSettled(looks))
    if (look.status === 'rejected') throw look.reason
}
