import type { BatchScope } from '../database/scopes.ts'
import type { Operation } from '../errors.ts'
import type { Scope } from '../scope.ts'
import { askComments } from './ask-comments.ts'
import type { Asking } from './ask-comments.ts'
import { askUsers } from './ask-users.ts'
import type { AskedResult } from './scope-result.ts'

/**
 * Asks for one scope, for all of it or what the run narrows it to.
 * @throws CallError where there was no usable answer
 */
export async function askScope(
  asking: Asking,
  operation: Operation,
  scope: BatchScope,
  { userIds, commentIds }: Pick<Scope, 'userIds' | 'commentIds'>,
): Promise<AskedResult> {
  return operation === 'comments'
    ? askComments(asking, scope, commentIds ? [...new Set(commentIds)] : null)
    : askUsers(asking, scope, userIds ? [...new Set(userIds)] : null)
}
