import type { Filters, Operation } from '../../../base/operations.ts'
import type { BatchScope } from '../../database/scopes.ts'
import type { Call } from '../../service/client.ts'
import type { SyncContext } from '../context.ts'
import type { Reading, Records } from '../record/records.ts'
import type { Rules } from '../rules.ts'
import type { FetchedResult, RecordsResult } from './result.ts'

/** What fetching needs. */
export interface Fetching extends Reading, Pick<SyncContext, 'collabApi' | 'database' | 'maxIds'> {
  readonly rules: Rules
  /** Whether a commit waits for the result: its calls wait for no memory, since commits free it. */
  readonly isAwaited?: boolean
  /** The time, by which what a listing shows is dated; left out where the time of the claim holds. */
  readonly seenAt?: () => Date
  /** Signals and counters that all its calls share. */
  readonly call: Omit<Call, 'knownDigest'>
}

/**
 * Fetches a full listing and reads it. When this returns, nothing refers to the response any more: a long one takes memory.
 * @returns null where the response is the one that is stored
 */
export async function fetchListing<O extends Operation>(
  { collabApi, call, rules }: Fetching,
  scope: BatchScope,
  operation: O,
  filter: Filters[O],
  records: Pick<Records<never, never>, 'addAll' | 'nameless'>,
): Promise<(Pick<RecordsResult, 'mayLack'> & { readonly bodyDigest: Buffer }) | null> {
  const known = scope.bodyDigest && { knownDigest: rules.sealed(operation, scope.bodyDigest) }
  const response = await collabApi.get(operation, filter, { ...call, ...known })
  if (response.status === 'unchanged') return null
  records.addAll(response)
  const mayLack = records.nameless > 0 || response.paged
  return { bodyDigest: rules.sealed(operation, response.digest), mayLack }
}

/** The result of a response that is the one that is stored. */
export function unchanged(scope: BatchScope): FetchedResult {
  return { outcome: 'unchanged', scope, records: scope.recordCount }
}

/** Of a response that does not list all of its scope. */
export const PART = { isListing: false, bodyDigest: null, contentDigest: null }
