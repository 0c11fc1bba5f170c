import { CallError } from '../../base/errors.ts'
import type { Database } from '../../core/database/pool.ts'
import type { ScopeInBatch } from '../../core/run/start.ts'
import type { CallStats } from '../../core/service/client.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import { noCallStats } from '../../core/sync/counts.ts'
import type { FetchedResult } from '../../core/sync/fetch/result.ts'
import { fetchScope } from '../../core/sync/fetch/scope.ts'
import type { Rules } from '../../core/sync/rules.ts'
import type { Scope } from '../../schemas/scope.ts'

/**
 * Fetches scopes as a run does, without a run. Memory does not grow with their number.
 * @param of.database for comparing listings with stored rows
 * @param of.scope limits what is fetched, as for a run
 * @param work called with each response, in the order of arrival
 * @throws CallError if the service refuses the credentials; DrainingError when the process stops; what `work` throws
 */
export async function fetchEach(
  { collabApi, drained, maxIds, rules: source }: SyncContext,
  of: { database: Database; scopes: AsyncGenerator<ScopeInBatch>; scope: Scope },
  work: (place: ScopeInBatch, result: FetchedResult, rules: Rules) => Promise<void>,
): Promise<CallStats> {
  const { database, scopes, scope: limits } = of
  const stats = noCallStats()
  const rules = await source.now()
  const fetching = { collabApi, database, maxIds, rules, call: { stats, signal: drained } }
  const worker = async () => {
    // A loop that fails ends the generator, and with it the loops of the other workers.
    for await (const place of scopes) {
      const { operation, scope } = place
      const result = await fetchScope(fetching, operation, scope, limits).catch(
        (error: unknown) => {
          if (!(error instanceof CallError) || error.concernsEveryCall) throw error
          return { outcome: 'failed' as const, scope, error }
        },
      )
      await work(place, result, rules)
    }
  }
  // Twice the limit, so that responses are processed while the next ones are fetched.
  const workers = Array.from({ length: 2 * collabApi.concurrency().limit }, worker)
  // The first failure is thrown after all scopes that were begun have ended.
  await Promise.all(workers).finally(() => Promise.allSettled(workers))
  return stats
}
