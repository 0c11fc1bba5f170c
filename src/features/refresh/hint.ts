import type { Item } from '../../core/database/claims.ts'
import { transaction } from '../../core/database/pool.ts'
import type { Client } from '../../core/database/pool.ts'
import * as hints from '../../core/database/statements/hints.ts'
import type { Hinted, HintScope } from '../../documents/hint.ts'
import { withSpan } from '../../base/trace.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import { checkInCatalog, makeRun, nothingToDo } from '../../core/run/start.ts'

/** What became of a hint, and the items to hand to the queue. */
export interface MadeHint {
  readonly hinted: Hinted
  readonly items: readonly Item[]
}

/**
 * Has the threads fetched that a caller reports as changed, later than now: by continuous refresh, or without it by a narrowed
 * run. However often a thread is reported before that fetch begins, it is fetched once.
 * @throws UsageError naming what the catalog lacks, or where the document has no annotation
 */
export async function hint(
  { database }: Pick<SyncContext, 'database'>,
  scope: HintScope,
): Promise<MadeHint> {
  return withSpan('hint', {}, () =>
    transaction(database, async (client) => {
      await checkInCatalog(client, scope)
      const { isRefreshed } = await hints.isRefreshed.one(client)
      return isRefreshed ? noteThreads(client, scope) : waitingRun(client, scope)
    }),
  )
}

async function noteThreads(client: Client, scope: HintScope): Promise<MadeHint> {
  const { threads } = await hints.insert.one(client, idsOf(scope))
  if (threads === 0) throw nothingToDo(scope)
  return { hinted: { runId: null, threads }, items: [] }
}

/** Finds or makes a run that no worker has begun. If one has begun, the service may have responded before the change. */
async function waitingRun(client: Client, hinted: HintScope): Promise<MadeHint> {
  const scope = { ...hinted, operations: ['comments' as const] }
  const wanted = { ...idsOf(hinted), scope: JSON.stringify(scope) }
  const waiting = await hints.findRun.first(client, wanted)
  if (waiting !== undefined) return { hinted: waiting, items: [] }
  await hints.lock.run(client, wanted)
  const madeMeanwhile = await hints.findRun.first(client, wanted)
  if (madeMeanwhile !== undefined) return { hinted: madeMeanwhile, items: [] }
  const request = { trigger: 'hint', scope, requestKey: null } as const
  const { items } = await makeRun(client, request, scope.operations)
  return { hinted: await hints.findRun.one(client, wanted), items }
}

function idsOf(scope: HintScope) {
  const { organizationIds, documentId, annotationId = null } = scope
  const [organizationId = ''] = organizationIds
  return { organizationId, documentId, annotationId }
}
