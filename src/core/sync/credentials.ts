import type { Claim } from '../database/claims.ts'
import * as runs from '../database/statements/runs.ts'
import * as scopes from '../database/statements/scopes.ts'
import { operationsOf } from '../../documents/scope.ts'
import { CallError } from '../../base/errors.ts'
import type { Call } from '../service/client.ts'
import { isForbidden } from '../service/errors.ts'
import type { SyncContext } from './context.ts'

/**
 * Checks key and token after calls of a run were forbidden (403) and none was answered. A service may say so of a token that
 * has expired, of one organization, or of one operation. Key and token are refused if the service answered no scope of the
 * run, in any process, and now forbids also the scopes that it last answered before: one call for each operation.
 * @param refused organizations whose scopes were forbidden
 * @param call signals and counters of these calls
 * @throws CallError where its kind concerns every call, such as a 401; the signal's reason when it aborts
 */
export async function areCredentialsRefused(
  { collabApi, database, operations }: SyncContext,
  { runId, scope }: Pick<Claim, 'runId' | 'scope'>,
  refused: readonly number[],
  call: Call,
): Promise<boolean> {
  const { answered } = await runs.isAnswered.one(database, { runId })
  if (answered) return false
  const wanted = operationsOf(scope, operations)
  const known = (await scopes.lastAnswered.all(database, { refused })).filter(({ operation }) =>
    wanted.includes(operation),
  )
  for (const { operation, organizationId, documentId, annotationId } of known) {
    const ids = { documentId: documentId ?? '', annotationId: annotationId ?? '' }
    try {
      await (operation === 'users'
        ? collabApi.getUsers({ organizationId }, call)
        : collabApi.getComments({ organizationId, ...ids }, call))
      return false
    } catch (error) {
      if (!(error instanceof CallError) || error.concernsEveryCall) throw error
      // Any other failure says nothing of key and token.
      if (!isForbidden(error)) return false
    }
  }
  // A first run has no scope to compare with: it is not stopped, and says at its end that every call was refused.
  return known.length > 0
}

/** What ends a run whose key and token are refused, by the failure that raised the suspicion. */
export function refusedCredentials(error: CallError): CallError {
  const message = `Every call was refused, and so were scopes that the service answered before this run. ${error.message}`
  return error.as({ kind: 'credentials', message })
}
