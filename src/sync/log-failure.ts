import type { BatchScope } from '../database/scopes.ts'
import type { CallError, Operation } from '../errors.ts'
import type { Log } from '../log.ts'

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
  const { name, code, stack = '' } = error as { name?: string; code?: unknown; stack?: string }
  const at = stack.slice(stack.indexOf('\n    at '))
  log.warn(
    { operation, ...idsOf(scope), fault: name, code, at },
    'an answer could not be processed: looking for the record',
  )
}

function idsOf(scope: BatchScope): Record<string, string | null> {
  const { organizationId, documentId, annotationId, organizationUserGroupId } = scope
  const ids = { organizationId, documentId, annotationId, organizationUserGroupId }
  return Object.fromEntries(Object.entries(ids).filter(([, id]) => id !== null))
}
