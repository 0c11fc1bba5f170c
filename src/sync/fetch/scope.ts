import type { BatchScope } from '../../database/scopes.ts'
import type { Scope } from '../../documents/scope.ts'
import { CallError } from '../../errors.ts'
import type { Operation } from '../../errors.ts'
import { askComments } from './comments.ts'
import type { Asking } from './comments.ts'
import type { AskedResult } from './result.ts'
import { askUsers } from './users.ts'

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
  try {
    const result = await (operation === 'comments'
      ? askComments(asking, scope, commentIds ? [...new Set(commentIds)] : null)
      : askUsers(asking, scope, userIds ? [...new Set(userIds)] : null))
    if ('incomplete' in result) await redactFailure(asking, scope, result.incomplete)
    return result
  } catch (error) {
    await redactFailure(asking, scope, error)
    throw error
  }
}

/** What the service says of a failure is stored too: erased people are left out of it. */
async function redactFailure(asking: Asking, scope: BatchScope, error: unknown): Promise<void> {
  if (!(error instanceof CallError)) return
  const { redact } = await asking.privacy.of(scope.organizationId, asking.lastErasure)
  if (redact === null) return
  const { message, errorStatus } = error
  Object.assign(error, { message: redact.text(message), errorStatus: redact.text(errorStatus) })
}
