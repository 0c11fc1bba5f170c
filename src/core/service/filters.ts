import { OPERATIONS } from '../../base/operations.ts'
import type { Filters, Operation } from '../../base/operations.ts'

/** Cuts ids into lists of at most `max`, in order; no ids make no list. */
export function chunkIds<Id>(ids: readonly Id[], max: number): Id[][] {
  const chunks: Id[][] = []
  for (let start = 0; start < ids.length; start += max) chunks.push(ids.slice(start, start + max))
  return chunks
}

/** A call in words, for messages: `Get Users of organizationId "acme", documentId "plan"`. */
export function describeCall(operation: Operation, filter: Filters[Operation]): string {
  const members = Object.entries(filter).map(([name, value]) =>
    Array.isArray(value) && value.length > 3
      ? `${name} ${JSON.stringify(value.slice(0, 3)).slice(0, -1)},... ${value.length} in all]`
      : `${name} ${JSON.stringify(value)}`,
  )
  return `${OPERATIONS[operation].name} of ${members.join(', ')}`
}
