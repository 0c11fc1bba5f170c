/** The read operations of the service (docs/SERVICE.md): facts. What each does with its records: core/sync/operation.ts. */

interface OperationFacts {
  /** As messages call it. */
  readonly name: string
  readonly path: string
  /** What one of its records is. */
  readonly record: string
  /** The kinds of catalog entries that it fetches one scope of. */
  readonly kinds: readonly ('organization' | 'group' | 'document' | 'annotation')[]
  /** Members of a scope, besides organizations, that it can be limited to. */
  readonly selectedBy: readonly string[]
  /** Whether continuous refresh polls its scopes, so that nightly runs need not fetch them. */
  readonly isRefreshed: boolean
  /** What it needs to be available at all, as a sentence without its end. */
  readonly condition: string
}

export const OPERATIONS = {
  users: {
    name: 'Get Users',
    path: '/v1/users/get',
    record: 'user',
    kinds: ['organization', 'group', 'document'],
    selectedBy: ['documentId', 'userIds', 'organizationUserGroupIds'],
    isRefreshed: false,
    condition: 'Get Users is for client SDK v3 or earlier',
  },
  comments: {
    name: 'Get Comments',
    path: '/v1/commentannotations/comments/get',
    record: 'comment',
    kinds: ['annotation'],
    // The effect of `userIds` is not known.
    selectedBy: ['documentId', 'annotationId', 'commentIds'],
    isRefreshed: true,
    condition:
      'Get Comments needs client SDK v4 and the advanced queries option of the service console',
  },
} as const satisfies Readonly<Record<string, OperationFacts>>

export type Operation = keyof typeof OPERATIONS
export type ScopeKind = (typeof OPERATIONS)[Operation]['kinds'][number]

/** Every operation, in the order in which runs plan them. */
export const OPERATION_NAMES = Object.keys(OPERATIONS) as Operation[]

/** What a record of one of the operations is. */
export type RecordName = (typeof OPERATIONS)[Operation]['record']

/** Makes a value for each operation. */
export function forEachOperation<T>(
  make: (operation: Operation) => T,
): Readonly<Record<Operation, T>> {
  const made = OPERATION_NAMES.map((operation) => [operation, make(operation)])
  return Object.fromEntries(made) as Record<Operation, T>
}

/** Whether an operation is the first one of a kind, whose scopes are counted as the entries of that kind. */
export function isFirstOfKind(operation: Operation, kind: ScopeKind): boolean {
  const fetches = (each: Operation) => (OPERATIONS[each] as OperationFacts).kinds.includes(kind)
  return OPERATION_NAMES.find(fetches) === operation
}

/** Operations whose scopes are the entries of the catalog, each once. */
export const ENTRY_OPERATIONS = OPERATION_NAMES.filter((each) =>
  OPERATIONS[each].kinds.some((kind) => isFirstOfKind(each, kind)),
)

/** Members of a scope that only some operations can be limited to. */
const SELECTORS = new Set<string>(OPERATION_NAMES.flatMap((each) => OPERATIONS[each].selectedBy))

/** Whether an operation can be limited to exactly what a scope selects. Unknown members select nothing. */
export function canSelect(operation: Operation, scope: Readonly<Record<string, unknown>>): boolean {
  const { selectedBy }: OperationFacts = OPERATIONS[operation]
  return Object.entries(scope).every(
    ([member, value]) =>
      value === undefined || !SELECTORS.has(member) || selectedBy.includes(member),
  )
}

/** The filter of each operation. */
export interface Filters {
  users: UsersFilter
  comments: CommentsFilter
}

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
