import { CallError } from '../../../base/errors.ts'
import type { Operation } from '../../../base/operations.ts'
import type { Scope } from '../../../schemas/scope.ts'
import type { BatchScope } from '../../database/scopes.ts'
import { moduleOf } from '../operation.ts'
import type { Fetching } from './listing.ts'
import type { FetchedResult } from './result.ts'

/**
 * Fetches one scope, all of it or what the run narrows it to. Its responses count as received until it ends; what the caller
 * keeps of them, it counts itself.
 * @param onFailedTry called after each try that failed
 * @throws CallError where there was no usable response
 */
export async function fetchScope(
  fetching: Fetching,
  operation: Operation,
  scope: BatchScope,
  limits: Pick<Scope, 'userIds' | 'commentIds'>,
  onFailedTry?: () => void,
): Promise<FetchedResult> {
  const memory = fetching.collabApi.memory.open(fetching.isAwaited ? 1 : 0)
  const own = { ...fetching, call: { ...fetching.call, memory, onFailedTry } }
  try {
    const result = await moduleOf(operation).fetch(own, scope, limits)
    if ('incomplete' in result) redactFailure(fetching, scope, result.incomplete)
    return result
  } catch (error) {
    redactFailure(fetching, scope, error)
    throw error
  } finally {
    memory.resize(0)
  }
}

/** The service's error message is stored too, so erased people are left out of it. */
function redactFailure({ rules }: Fetching, { organizationId }: BatchScope, error: unknown): void {
  if (!(error instanceof CallError)) return
  const redact = rules.redact(organizationId)
  if (redact === null) return
  const { message, errorStatus } = error
  Object.assign(error, { message: redact.text(message), errorStatus: redact.text(errorStatus) })
}
