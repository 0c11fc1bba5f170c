import { UsageError } from '../../base/errors.ts'
import type { Operation } from '../../base/errors.ts'

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

type MemberType = 'id' | 'ids' | 'integers'

/** What a filter of each operation may have; ids that `required` names are always sent. */
const FILTERS: Readonly<
  Record<
    Operation,
    { readonly types: Readonly<Record<string, MemberType>>; readonly required: readonly string[] }
  >
> = {
  users: {
    types: {
      organizationId: 'id',
      documentId: 'id',
      userIds: 'ids',
      organizationUserGroupIds: 'ids',
    },
    required: ['organizationId'],
  },
  comments: {
    types: { organizationId: 'id', documentId: 'id', annotationId: 'id', commentIds: 'integers' },
    required: ['organizationId', 'documentId', 'annotationId'],
  },
}

/**
 * Checks a filter before it is sent: no member that is not documented, no empty value; of users one of the six combinations.
 * @throws UsageError naming the member
 */
export function checkFilter(operation: Operation, filter: UsersFilter | CommentsFilter): void {
  const { types, required } = FILTERS[operation]
  const fail = (fault: string) => new UsageError(`${NAMES[operation]}: ${fault}`)
  const missing = required.find((name) => !(name in filter))
  if (missing !== undefined) throw fail(`${missing} is missing`)
  for (const [name, value] of Object.entries(filter)) {
    const type = Object.hasOwn(types, name) ? types[name] : undefined
    if (type === undefined) throw fail(`${name} is never sent`)
    const wrong = faultOf(type, value)
    if (wrong !== null) throw fail(`${name} ${wrong}`)
  }
  if ('documentId' in filter && 'organizationUserGroupIds' in filter)
    throw fail(
      'documentId and organizationUserGroupIds cannot be in one filter (not a documented combination)',
    )
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

/** Cuts ids into lists of at most `max`, in order; no ids make no list. */
export function chunkIds<Id>(ids: readonly Id[], max: number): Id[][] {
  const chunks: Id[][] = []
  for (let start = 0; start < ids.length; start += max) chunks.push(ids.slice(start, start + max))
  return chunks
}

const NAMES: Readonly<Record<Operation, string>> = { users: 'Get Users', comments: 'Get Comments' }

/** A call in words, for messages: `Get Users of organizationId "acme", documentId "plan"`. */
export function describeCall(operation: Operation, filter: UsersFilter | CommentsFilter): string {
  const members = Object.entries(filter).map(([name, value]) =>
    Array.isArray(value) && value.length > 3
      ? `${name} ${JSON.stringify(value.slice(0, 3)).slice(0, -1)},... ${value.length} in all]`
      : `${name} ${JSON.stringify(value)}`,
  )
  return `${NAMES[operation]} of ${members.join(', ')}`
}
