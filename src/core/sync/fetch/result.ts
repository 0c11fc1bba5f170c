import type { BatchScope } from '../../database/scopes.ts'
import type { CallError, Operation } from '../../../base/errors.ts'
import type { Log } from '../../../base/log.ts'
import type { CommentRecord } from '../record/comment.ts'
import type { Reject } from '../record/received.ts'
import type { UserRecord } from '../record/user.ts'

/** What came of asking for one scope. */
export type AskedResult = UnchangedResult | CommentsResult | UsersResult | FailedResult

/** The answer is the one that is stored. */
export interface UnchangedResult {
  readonly outcome: 'unchanged'
  readonly scope: BatchScope
  readonly records: number
}

interface AnswerResult {
  readonly scope: BatchScope
  /** Members and records that could not be stored as received. */
  readonly rejects: readonly Reject[]
  /** Items of the answer that were rejected as a whole. */
  readonly rejectedItems: number
  /** Null where the next answer must be looked at again even if it is the same. */
  readonly bodyDigest: Buffer | null
  readonly contentDigest: Buffer | null
  /** The JSON text of each record by its id, where the one who asked wanted it. */
  readonly texts?: ReadonlyMap<unknown, string>
  /** Why the answer may be incomplete: its records are stored, it removes nothing, and the scope failed. */
  readonly incomplete: CallError | null
}

/** Comments to store. */
export interface CommentsResult extends AnswerResult {
  readonly outcome: 'comments'
  readonly records: readonly CommentRecord[]
  /** Ids that were asked for and answered null: the evidence of deletion. */
  readonly gone: readonly number[]
  /** True for a full listing, false where just some comments were asked for. */
  readonly isListing: boolean
}

/** Users to store. */
export interface UsersResult extends AnswerResult {
  readonly outcome: 'users'
  readonly records: readonly UserRecord[]
  /**
   * True where somebody who is missing may still be there: items have no readable `userId`, or the body has a word of paging
   * beside the data. Then nobody leaves before a person has looked.
   */
  readonly mayLackUsers: boolean
  /** Users of whom nothing was stored, though the answer names them: they are not missing. */
  readonly rejectedIds: ReadonlySet<string>
  /**
   * True for a full listing. An answer narrowed by `userIds` says nothing of membership: whether filters
   * are combined by intersection or union is "not shown" (service-api.md, Get Users).
   */
  readonly isListing: boolean
}

/** No usable answer. */
export interface FailedResult {
  readonly outcome: 'failed'
  readonly scope: BatchScope
  readonly error: CallError
}

/** A scope that gave no usable answer, by its ids; `sync.failures` has it too, once it is committed. */
export function logFailure(
  log: Log,
  operation: Operation,
  scope: BatchScope,
  { httpStatus, errorStatus, kind, attempts }: CallError,
): void {
  // Not its message: that may hold the service's words, which no erasure would find in a log.
  const reason = [httpStatus && `HTTP ${httpStatus}`, errorStatus].filter(Boolean).join(' ')
  log.debug({ operation, ...idsOf(scope), kind, attempts, reason }, 'scope failed')
}

/** An answer that could not be processed: where it failed, but not the message, which may quote the answer. */
export function logFault(log: Log, operation: Operation, scope: BatchScope, error: unknown): void {
  const {
    name,
    code,
    constraint,
    stack = '',
  } = error as Error & { code?: unknown; constraint?: string }
  const at = stack.slice(stack.indexOf('\n    at '))
  log.warn(
    { operation, ...idsOf(scope), fault: name, code, constraint, at },
    'an answer could not be processed: looking for the record',
  )
}

function idsOf(scope: BatchScope): Record<string, string | null> {
  const { organizationId, documentId, annotationId, organizationUserGroupId } = scope
  const ids = { organizationId, documentId, annotationId, organizationUserGroupId }
  return Object.fromEntries(Object.entries(ids).filter(([, id]) => id !== null))
}
