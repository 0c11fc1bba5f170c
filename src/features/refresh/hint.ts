import { lock } from '../../core/database/locks.ts'
import { transaction } from '../../core/database/pool.ts'
import type { Client } from '../../core/database/pool.ts'
import * as hints from '../../core/database/statements/hints.ts'
import type { HintScope } from '../../schemas/hint.ts'
import { withSpan } from '../../base/trace.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import { checkInCatalog, makeRun, nothingToDo } from '../../core/run/start.ts'

/**
 * Has threads fetched that a caller reports as changed: by continuous refresh, or, if it is off, by a scoped run. Several hints
 * before the fetch starts cause one fetch.
 * @returns `items`: to be enqueued
 * @throws UsageError that names what the catalog lacks, or if the document has no annotation
 */
export async function hint({ database }: Pick<SyncContext, 'database'>, scope: HintScope) {
  return withSpan('hint', {}, () =>
    transaction(database, async (client) => {
      await checkInCatalog(client, scope)
      const { isRefreshed } = await hints.isRefreshed.one(client)
      return isRefreshed ? noteThreads(client, scope) : waitingRun(client, scope)
    }),
  )
}

async function noteThreads(client: Client, scope: HintScope) {
  const { annotations } = await hints.insert.one(client, idsOf(scope))
  if (annotations === 0) throw nothingToDo(scope)
  return { hinted: { runId: null, annotations }, items: [] }
}

/** Finds or creates a run that no worker has started. In a started run, the service may have responded before the change. */
async function waitingRun(client: Client, hinted: HintScope) {
  const scope = { ...hinted, operations: ['comments' as const] }
  const wanted = { ...idsOf(hinted), scope: JSON.stringify(scope) }
  const waiting = await hints.findRun.first(client, wanted)
  if (waiting !== undefined) return { hinted: waiting, items: [] }
  await lock(client, 'hints')
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
