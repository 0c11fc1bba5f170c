import type { BatchScope } from '../database/scopes.ts'
import type { CallError, Operation } from '../errors.ts'
import type { Log } from '../log.ts'

/** A scope that gave no usable answer, by its ids; `sync.failures` has it too, once it is committed. */
export function logFailure(
  log: Log,
  operation: Operation,
  scope: BatchScope,
  { message, kind, attempts }: CallError,
): void {
  const { organizationId, documentId, annotationId, organizationUserGroupId } = scope
  const ids = { organizationId, documentId, annotationId, organizationUserGroupId }
  const known = Object.fromEntries(Object.entries(ids).filter(([, id]) => id !== null))
  log.debug({ operation, ...known, kind, attempts, reason: message }, 'scope failed')
}
