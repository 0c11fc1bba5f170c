import type { Filters, Operation, OPERATIONS } from '../../base/operations.ts'
import type { Scope } from '../../schemas/scope.ts'
import type { Client } from '../database/pool.ts'
import type { BatchScope, ScopeIds } from '../database/scopes.ts'
import { commitComments } from './commit/comments.ts'
import { LISTED_USERS } from './commit/listed-users.ts'
import { commitUsers } from './commit/users.ts'
import type { DecidedListing, ListedRecords } from './compare/listings.ts'
import type { Committing } from './context.ts'
import { commentsFilter, fetchComments } from './fetch/comments.ts'
import type { Fetching } from './fetch/listing.ts'
import type { FetchedResult, RecordsResult, RecordTypes } from './fetch/result.ts'
import { fetchUsers, usersFilter } from './fetch/users.ts'

/** What an operation of listings stores of them; null for one that deletes only what the service returns null for. */
type ListedOf = {
  readonly [O in Operation]: (typeof OPERATIONS)[O]['kinds'][number] extends 'annotation'
    ? null
    : ListedRecords
}

/** What an operation does; base/operations.ts has its facts. */
interface OperationModule<O extends Operation = Operation> {
  /** The filter that fetches all of a scope. */
  filterOf(ids: ScopeIds): Filters[O]
  /** Fetches a scope, or what `limits` leave of it. @throws CallError where there was no usable response */
  fetch(
    fetching: Fetching,
    scope: BatchScope,
    limits: Pick<Scope, 'userIds' | 'commentIds'>,
  ): Promise<FetchedResult>
  idOf(record: RecordTypes[O]['record']): RecordTypes[O]['id']
  readonly listed: ListedOf[O]
  /**
   * Writes the results of at least one scope of an organization, in the caller's transaction. Adds to the counts.
   * @param listings the full listings among the results, with what leaves them: nothing else may leave
   */
  commit(
    client: Client,
    committing: Committing,
    results: readonly RecordsResult<O>[],
    listings: readonly DecidedListing<O>[],
  ): Promise<void>
}

const OPERATION_MODULES: { readonly [O in Operation]: OperationModule<O> } = {
  users: {
    filterOf: usersFilter,
    fetch: fetchUsers,
    idOf: ({ userId }) => userId,
    listed: LISTED_USERS,
    commit: commitUsers,
  },
  comments: {
    filterOf: commentsFilter,
    fetch: fetchComments,
    idOf: ({ commentId }) => commentId,
    listed: null,
    commit: commitComments,
  },
}

/** The results of a batch are all of its operation, so they fit its module. */
export function moduleOf(operation: Operation): OperationModule {
  return OPERATION_MODULES[operation]
}
