import type { Claim } from '../database/claims.ts'
import * as runs from '../database/statements/runs.ts'
import * as scopes from '../database/statements/scopes.ts'
import { operationsOf } from '../../schemas/scope.ts'
import { CallError } from '../../base/errors.ts'
import { SUSPICIOUS_REFUSALS } from '../run/run-signals.ts'
import type { RunRefusals } from '../run/run-signals.ts'
import type { Call } from '../service/client.ts'
import { isForbidden } from '../service/errors.ts'
import type { SyncContext } from './context.ts'
import type { FailedResult } from './fetch/result.ts'
import { moduleOf } from './operation.ts'

/**
 * Notes a failed scope, and checks key and token once several scopes of the run were forbidden (403) and none succeeded.
 * @param call signals and counters of the calls of that check
 * @throws CallError if key and token are refused, or where its kind concerns every call; the signal's reason when it aborts
 */
export async function noteRefusals(
  context: SyncContext,
  claim: Pick<Claim, 'runId' | 'scope'>,
  refusals: RunRefusals,
  { scope, error }: FailedResult,
  call: Call,
): Promise<void> {
  if (refusals.areCredentialsGood || !isForbidden(error) || error.attempts === 0) return
  refusals.organizations.add(scope.organizationKey)
  refusals.count += 1
  if (refusals.count !== SUSPICIOUS_REFUSALS) return
  try {
    if (!(await areCredentialsRefused(context, claim, [...refusals.organizations], call))) return
  } catch (failure) {
    // The check could not be made: later refusals lead to another one.
    refusals.count = 0
    throw failure
  }
  const message = `Every call was refused, and so were scopes for which the service returned data before this run. ${error.message}`
  throw error.as({ kind: 'credentials', message })
}

/**
 * A service may forbid calls because a token has expired, or for one organization, or for one operation. Key and token are
 * refused if no scope of the run succeeded, in any process, and the service now also forbids the scopes that succeeded last
 * before: one call for each operation.
 * @param refused organizations whose scopes were forbidden
 */
async function areCredentialsRefused(
  { collabApi, database, operations }: SyncContext,
  { runId, scope }: Pick<Claim, 'runId' | 'scope'>,
  refused: readonly number[],
  call: Call,
): Promise<boolean> {
  const { hasResponse } = await runs.hasResponse.one(database, { runId })
  if (hasResponse) return false
  const wanted = operationsOf(scope, operations)
  const known = (await scopes.lastSuccessful.all(database, { refused })).filter(({ operation }) =>
    wanted.includes(operation),
  )
  for (const { operation, ...ids } of known) {
    try {
      await collabApi.get(operation, moduleOf(operation).filterOf(ids), call)
      return false
    } catch (error) {
      if (!(error instanceof CallError) || error.concernsEveryCall) throw error
      // Any other failure does not concern key and token.
      if (!isForbidden(error)) return false
    }
  }
  // A first run has no scope to compare with: it is not stopped, and reports at its end that every call was refused.
  return known.length > 0
}
