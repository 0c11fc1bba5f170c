import type { BatchScope } from '../../database/scopes.ts'
import type { RowOf } from '../../database/statement.ts'
import * as refresh from '../../database/statements/refresh.ts'
import type { Priority } from '../../service/wait.ts'
import { SupersededError } from '../claim.ts'
import { claimLooks, LookedAtBatch } from './looked-at-batch.ts'
import type { LookClaim } from './looked-at-batch.ts'
import { LooksSoFar } from './looking.ts'
import type { BeginLook, Looking, NotedFailures } from './looking.ts'
import type { RefreshPage } from './pass.ts'

/** A thread as it is looked at by itself. */
export type ThreadToLook = RowOf<typeof refresh.threads>

/** Looks that are superseded are made again, so many times: then the thread waits for its next turn. */
const TRIES = 4
/** Which thread of its batch a claim is for says the result; that it is not for all of them says this. */
const ONE_SCOPE = '1'

/**
 * Looks at one thread. One that is as it was writes nothing.
 * @param noted what failed today
 * @throws what ends the work: refused credentials, the worker stopping, PostgreSQL away
 */
export async function lookAtThread(
  looking: Looking,
  soFar: LooksSoFar,
  first: { readonly thread: ThreadToLook; readonly claim: LookClaim; readonly priority: Priority },
  noted: NotedFailures,
): Promise<'found' | 'unchanged' | 'failed'> {
  let { thread, claim } = first
  for (let tries = 1; ; tries += 1) {
    const { batchKey, batchXmin } = thread
    const scope: BatchScope = { ...thread, kind: 'annotation' }
    const where = { batchKey, operation: 'comments' as const, priority: first.priority }
    const own = { ...claim, ...where, batchXmin, onlyScopes: ONE_SCOPE }
    const batch = new LookedAtBatch(looking, soFar, own, where)
    try {
      const result = await batch.ask(scope)
      const outcome = 'fault' in result ? null : result.outcome
      if (outcome === 'unchanged' && !thread.isFailing && thread.checkedAt !== null) {
        soFar.unchanged(scope)
        return 'unchanged'
      }
      if (outcome === 'failed' && noted.has(scope)) {
        soFar.failedAgain()
        return 'failed'
      }
      batch.add(scope, result)
      const wrote = await batch.end()
      noted.note(scope, wrote.scopesFailed > 0)
      if (wrote.scopesFailed > 0) return 'failed'
      return wrote.commentsWritten + wrote.commentsDeleted > 0 ? 'found' : 'unchanged'
    } catch (error) {
      if (!(error instanceof SupersededError) || tries >= TRIES) throw error
      const at = await looking.clock.now()
      const now = await refresh.threads.first(looking.context.database, { keys: [scope.key] })
      if (now === undefined) return 'unchanged'
      thread = now
      claim = await claimLooks(looking, at)
    } finally {
      batch.close()
    }
  }
}

/**
 * Begins to look at the threads of a page, one after the other.
 * @returns once all are begun; `ended` when all have ended, and rejects as {@link lookAtThread} throws
 */
export async function lookAtThreads(
  looking: Looking,
  { at, threads }: RefreshPage,
  noted: NotedFailures,
  begin: BeginLook,
): Promise<{ readonly ended: Promise<LooksSoFar> }> {
  const soFar = new LooksSoFar()
  const begun: Promise<void>[] = []
  let isFailed = false
  const beginAll = async () => {
    const claim = await claimLooks(looking, at)
    const keys = threads.map(({ key }) => key)
    const sweptAt = new Map(threads.map((each) => [each.key, each.sweptAt]))
    for (const thread of await refresh.threads.all(looking.context.database, { keys })) {
      if (isFailed) return
      const { ended } = await begin(async () => {
        const asked = { thread, claim, priority: 'normal' as const }
        const looked = await lookAtThread(looking, soFar, asked, noted)
        const before = Math.max(Number(sweptAt.get(thread.key)), Number(thread.checkedAt))
        soFar.learn(looked, before > 0 ? at.getTime() - before : null)
        looking.looked(looked, thread.organizationKey)
      })
      begun.push(
        ended.catch((error: unknown) => {
          isFailed = true
          throw error
        }),
      )
    }
  }
  await beginAll().catch((error: unknown) => begun.push(Promise.reject(error as Error)))
  return { ended: allEnded(begun).then(() => soFar) }
}

/** Waits for all, then throws what the first that failed threw. */
async function allEnded(looks: readonly Promise<void>[]): Promise<void> {
  for (const look of await Promise.allSettled(looks))
    if (look.status === 'rejected') throw look.reason
}
