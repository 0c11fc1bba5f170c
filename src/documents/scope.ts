import * as z from 'zod'
import { UsageError } from '../errors.ts'
import type { Operation } from '../errors.ts'
import { printable } from '../printable.ts'

export const OPERATIONS: readonly Operation[] = ['users', 'comments']

const ids = z.array(z.string().min(1)).min(1)

const ScopeSchema = z.strictObject({
  organizationIds: ids.optional(),
  documentId: z.string().min(1).optional(),
  annotationId: z.string().min(1).optional(),
  commentIds: z.array(z.int()).min(1).optional(),
  userIds: ids.optional(),
  organizationUserGroupIds: ids.optional(),
  operations: z
    .array(z.enum(['users', 'comments']))
    .min(1)
    .optional(),
})

/** What a run is narrowed to, in the members of `contract.md` ("The queue"); `{}` means the whole catalog. */
export type Scope = z.infer<typeof ScopeSchema>

/**
 * Checks a scope from a program, the command line or a stored run.
 * @param value the scope's members; undefined counts as `{}`
 * @throws UsageError naming the member at fault
 */
export function parseScope(value: unknown): Scope {
  const parsed = ScopeSchema.safeParse(value ?? {})
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    const member = issue?.path.join('.') || 'scope'
    throw new UsageError(
      issue?.code === 'unrecognized_keys'
        ? `scope has no member "${issue.keys[0]}".`
        : `scope: ${member} is wrong: ${issue?.message ?? 'not a scope'}.`,
    )
  }
  const scope = parsed.data
  const fault = combinationFault(scope)
  if (fault !== null) throw new UsageError(`scope: ${fault}.`)
  return scope
}

const StoredScopeSchema = z.looseObject(ScopeSchema.shape)

/**
 * The scope that is stored of a run, to be shown. It was checked when the run was made; members that another version knew
 * stay, so that its runs can be listed.
 */
export function storedScope(value: unknown): Scope {
  return StoredScopeSchema.parse(value)
}

/**
 * The operations a scope asks for. Comments can be narrowed by comment ids only and users by user and
 * group ids only (service-api.md, Endpoints; the effect of `userIds` on Get Comments is "not shown"),
 * so such a narrowing leaves one operation.
 * @param defaults what the settings ask for (`SYNC_OPERATIONS`)
 */
export function operationsOf(scope: Scope, defaults: readonly Operation[]): Operation[] {
  const wanted = scope.operations ?? defaults
  const possible = scope.annotationId
    ? ['comments']
    : scope.userIds || scope.organizationUserGroupIds
      ? ['users']
      : OPERATIONS
  return OPERATIONS.filter(
    (operation) => wanted.includes(operation) && possible.includes(operation),
  )
}

/** True where the scope asks for parts of listings: such answers say nothing about what they lack. */
export function isNarrowed(scope: Scope): boolean {
  return scope.userIds !== undefined || scope.commentIds !== undefined
}

/** The scope in words for a person, such as `organization acme, document plan`. */
export function describeScope(scope: Scope): string {
  const parts = [
    scope.organizationIds && `organization ${scope.organizationIds.join(', ')}`,
    scope.documentId && `document ${scope.documentId}`,
    scope.annotationId && `annotation ${scope.annotationId}`,
    scope.commentIds && `comment ${scope.commentIds.join(', ')}`,
    scope.userIds && `user ${scope.userIds.join(', ')}`,
    scope.organizationUserGroupIds && `group ${scope.organizationUserGroupIds.join(', ')}`,
    scope.operations && `${scope.operations.join(' and ')} only`,
  ].filter(Boolean)
  return parts.length === 0 ? 'everything in the catalog' : printable(parts.join(', '))
}

function combinationFault(scope: Scope): string | null {
  const one = scope.organizationIds?.length === 1
  if (scope.documentId && !one)
    return 'documentId needs exactly one organization in organizationIds'
  if (scope.annotationId && !scope.documentId) return 'annotationId needs documentId'
  if (scope.commentIds && !scope.annotationId) return 'commentIds needs annotationId'
  if (scope.organizationUserGroupIds && scope.documentId)
    // Not among the six combinations of service-api.md, Get Users.
    return 'organizationUserGroupIds cannot be combined with documentId'
  if (scope.userIds && scope.annotationId) return 'userIds cannot be combined with annotationId'
  if (operationsOf(scope, OPERATIONS).length === 0)
    return `operations ${scope.operations?.join(', ')} cannot be narrowed that way`
  return null
}
