import { UsageError } from '../errors.ts'
import type { Operation } from '../errors.ts'

/** Filter of Get Users: exactly the six documented combinations (service-api.md, Endpoints, 2). */
export type UsersFilter =
  | UsersOf<'organizationId'>
  | UsersOf<'organizationId' | 'documentId'>
  | UsersOf<'organizationId' | 'userIds'>
  | UsersOf<'organizationId' | 'documentId' | 'userIds'>
  | UsersOf<'organizationId' | 'organizationUserGroupIds'>
  | UsersOf<'organizationId' | 'userIds' | 'organizationUserGroupIds'>

/**
 * Filter of Get Comments (service-api.md, Endpoints, 1). Which members are required is not shown:
 * all three ids are always sent. `userIds` has no shown effect and is never sent.
 */
export interface CommentsFilter {
  readonly organizationId: string
  readonly documentId: string
  readonly annotationId: string
  /** Whole numbers within 2^53 - 1; the sign is not shown, so any is allowed. */
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

/**
 * Checks a filter of Get Users before it is sent: one of the six combinations, no empty value.
 * @throws UsageError naming the member
 */
export function checkUsersFilter(filter: UsersFilter): void {
  checkMembers('Get Users', filter, USERS_MEMBERS, ['organizationId'])
  if ('documentId' in filter && 'organizationUserGroupIds' in filter) {
    throw new UsageError(
      'Get Users: documentId and organizationUserGroupIds cannot be in one filter (not a documented combination)',
    )
  }
}

/**
 * Checks a filter of Get Comments before it is sent: its three ids and no empty value.
 * @throws UsageError naming the member
 */
export function checkCommentsFilter(filter: CommentsFilter): void {
  checkMembers('Get Comments', filter, COMMENTS_MEMBERS, [
    'organizationId',
    'documentId',
    'annotationId',
  ])
}

/** Cuts ids into lists of at most `max`, in order; no ids make no list. */
export function chunkIds<Id>(ids: readonly Id[], max: number): Id[][] {
  const chunks: Id[][] = []
  for (let start = 0; start < ids.length; start += max) chunks.push(ids.slice(start, start + max))
  return chunks
}

/** A call in words, for messages: `Get Users of organizationId "acme", documentId "plan"`. */
export function describeCall(operation: Operation, filter: UsersFilter | CommentsFilter): string {
  const members = Object.entries(filter).map(([name, value]) =>
    Array.isArray(value) && value.length > 3
      ? `${name} ${JSON.stringify(value.slice(0, 3)).slice(0, -1)},... ${value.length} in all]`
      : `${name} ${JSON.stringify(value)}`,
  )
  return `${operation === 'users' ? 'Get Users' : 'Get Comments'} of ${members.join(', ')}`
}

type MemberType = 'id' | 'ids' | 'integers'

const USERS_MEMBERS: ReadonlyMap<string, MemberType> = new Map([
  ['organizationId', 'id'],
  ['documentId', 'id'],
  ['userIds', 'ids'],
  ['organizationUserGroupIds', 'ids'],
])

const COMMENTS_MEMBERS: ReadonlyMap<string, MemberType> = new Map([
  ['organizationId', 'id'],
  ['documentId', 'id'],
  ['annotationId', 'id'],
  ['commentIds', 'integers'],
])

function checkMembers(
  call: string,
  filter: object,
  types: ReadonlyMap<string, MemberType>,
  required: readonly string[],
): void {
  for (const name of required) {
    if (!(name in filter)) throw new UsageError(`${call}: ${name} is missing`)
  }
  for (const name in filter) {
    const type = types.get(name)
    if (type === undefined) throw new UsageError(`${call}: ${name} is never sent`)
    const wrong = faultOf(type, (filter as Record<string, unknown>)[name])
    if (wrong !== null) throw new UsageError(`${call}: ${name} ${wrong}`)
  }
}

function faultOf(type: MemberType, value: unknown): string | null {
  if (type === 'id') return isId(value) ? null : 'must be a text that is not empty'
  if (!Array.isArray(value) || value.length === 0) return 'must be a list that is not empty'
  if (type === 'ids') return value.every(isId) ? null : 'must hold only texts that are not empty'
  return value.every(Number.isSafeInteger)
    ? null
    : 'must hold only whole numbers from -(2^53 - 1) to 2^53 - 1'
}

function isId(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}
