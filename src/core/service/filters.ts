import { OPERATIONS } from '../../base/operations.ts'
import type { Operation } from '../../base/operations.ts'

/**
 * Filter of Get Users: exactly the six documented combinations (docs/SERVICE.md, Get Users). The types hold them; ids are checked
 * where they come in, with the catalog or the scope of a run.
 */
export type UsersFilter =
  | UsersOf<'organizationId'>
  | UsersOf<'organizationId' | 'documentId'>
  | UsersOf<'organizationId' | 'userIds'>
  | UsersOf<'organizationId' | 'documentId' | 'userIds'>
  | UsersOf<'organizationId' | 'organizationUserGroupIds'>
  | UsersOf<'organizationId' | 'userIds' | 'organizationUserGroupIds'>

/**
 * Filter of Get Comments (docs/SERVICE.md, Get Comments). Which members are required is not known:
 * all three ids are always sent. `userIds` has no shown effect and is never sent.
 */
export interface CommentsFilter {
  readonly organizationId: string
  readonly documentId: string
  readonly annotationId: string
  /** Whole numbers within 2^53 - 1; the sign is not known, so any is allowed. */
  readonly commentIds?: readonly number[]
}

interface UsersMembers {
  readonly organizationId: string
  readonly documentId: string
  readonly userIds: readonly string[]
  readonly organizationUserGroupIds: readonly string[]
}

type UsersOf<Present extends keyof UsersMembers> = Pick<UsersMembers, Present> & {
  readonly [Absent in Exclude<keyof UsersMembers, Present>]?: never
}

/** The filter of each operation. */
export interface Filters {
  users: UsersFilter
  comments: CommentsFilter
}

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
