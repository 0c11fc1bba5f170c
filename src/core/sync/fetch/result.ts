import { idsOf } from '../../database/scopes.ts'
import type { BatchScope } from '../../database/scopes.ts'
import type { CallError } from '../../../base/errors.ts'
import type { Operation } from '../../../base/operations.ts'
import type { Log } from '../../../base/log.ts'
import { isOurCode } from '../../../schemas/format.ts'
import type { Reject } from '../record/received.ts'

/** The result of fetching one scope. */
export type FetchedResult =
  /** The response is the one that is stored. */
  | { readonly outcome: 'unchanged'; readonly scope: BatchScope; readonly records: number }
  | RecordsResult
  | FailedResult

/** What a record of each operation is once it is read, and its key. The module that reads a record adds it. */
export interface RecordTypes {}

/** Records to store. */
export interface RecordsResult<O extends Operation = Operation> {
  readonly outcome: 'records'
  readonly operation: O
  readonly scope: BatchScope
  readonly records: readonly RecordTypes[O]['record'][]
  /** IDs for which the service returned null: the evidence of deletion. */
  readonly gone: readonly RecordTypes[O]['id'][]
  /** Members and records that could not be stored as received. */
  readonly rejects: readonly Reject[]
  /** Items of the response that were rejected as a whole. */
  readonly rejectedItems: number
  /** Records that the response has and that cannot be stored. They do not count as missing. */
  readonly rejectedIds: ReadonlySet<RecordTypes[O]['id']>
  /**
   * True for a full listing. A response to some ids says nothing of other comments, nor of membership: whether filters are
   * combined by intersection or union is not known (docs/SERVICE.md, What is not known).
   */
  readonly isListing: boolean
  /**
   * True if a missing user may still be a member: items have no readable `userId`, or the body has a field of paging beside the
   * data. Then no user is removed without approval.
   */
  readonly mayLack: boolean
  /** Why the response may be incomplete: its records are stored, it removes nothing, and the scope failed. */
  readonly incomplete: CallError | null
  /** Null where the next response must be read again even if it is the same: no digest is stored. */
  readonly bodyDigest: Buffer | null
  /** Null where the response does not list all of its scope. */
  readonly contentDigest: Buffer | null
  /** The JSON text of each record by its id, where the caller wanted it. */
  readonly texts?: ReadonlyMap<unknown, string> | undefined
}

/** No usable response. */
export interface FailedResult {
  readonly outcome: 'failed'
  readonly scope: BatchScope
  readonly error: CallError
}

/** Logs a scope without a usable response, by its IDs. */
export function logFailure(
  log: Log,
  operation: Operation,
  scope: BatchScope,
  { httpStatus, errorStatus, kind, attempts }: CallError,
): void {
  // The message and a status that is no code may be free text of the service, which an erasure would not find in a log.
  const isCode = isOurCode(errorStatus) || /^[A-Z0-9_]{1,64}$/.test(errorStatus ?? '')
  const code = isCode ? errorStatus : errorStatus && `status of ${errorStatus.length} characters`
  const reason = [httpStatus && `HTTP ${httpStatus}`, code].filter(Boolean).join(' ')
  log.debug({ operation, ...knownIdsOf(scope), kind, attempts, reason }, 'scope failed')
}

/** Logs where processing a response failed, but not the message, which may quote the response. */
export function logFault(log: Log, operation: Operation, scope: BatchScope, error: unknown): void {
  const fault = error as Error & { code?: unknown; constraint?: string }
  const { name, code, constraint, stack = '' } = fault
  const at = stack.slice(stack.indexOf('\n    at '))
  log.warn(
    { operation, ...knownIdsOf(scope), fault: name, code, constraint, at },
    'a response could not be processed: searching for the record',
  )
}

/** The ids that a scope has. */
function knownIdsOf(scope: BatchScope): Record<string, string | null> {
  return Object.fromEntries(Object.entries(idsOf(scope)).filter(([, id]) => id !== null))
}
