import * as z from 'zod'
import type { Operation } from '../base/errors.ts'
import { printable } from '../base/printable.ts'
import { checked, id } from './check.ts'

export const OPERATIONS = ['users', 'comments'] as const satisfies readonly Operation[]

export const OperationSchema = z.enum(OPERATIONS, `must be ${OPERATIONS.join(' or ')}`)

function scopeShape(oneId: typeof id | z.ZodString) {
  const ids = oneOrMore(oneId)
  return {
    organizationIds: ids.optional(),
    documentId: oneId.optional().describe('Needs exactly one organization.'),
    annotationId: oneId.optional().describe('Needs documentId.'),
    commentIds: oneOrMore(z.int('must be a whole number'))
      .optional()
      .describe('Needs annotationId.'),
    userIds: ids.optional(),
    organizationUserGroupIds: ids.optional(),
    operations: oneOrMore(OperationSchema).optional(),
  }
}

function oneOrMore<T extends z.ZodType>(item: T) {
  return z.array(item, 'must be a list').min(1, 'must not be empty')
}

/** What a run is asked to be narrowed to. */
export const ScopeSchema = z
  .strictObject(scopeShape(id), 'must be an object')
  .superRefine((scope, context) => {
    const [member, message] = combinationFault(scope) ?? []
    if (member !== undefined) context.addIssue({ code: 'custom', path: [member], message })
  })
  .meta({ id: 'Scope', description: 'What to narrow the run to.' })

/** What a run is narrowed to, in the members of `contract.md` ("The queue"); `{}` means the whole catalog. */
export type Scope = z.output<typeof ScopeSchema>

/**
 * The scope that is stored of a run, to be shown: it was checked when the run was made. Members and ids that another version
 * took stay, so that its runs can be listed.
 */
export const StoredScopeSchema = z
  .looseObject(scopeShape(z.string()))
  .describe('What the run was narrowed to; empty for everything in the catalog.')

/**
 * Checks a scope from a program, the command line or a run that is to be worked.
 * @param value the scope's members; undefined counts as `{}`
 * @throws UsageError naming the member at fault
 */
export function parseScope(value: unknown): Scope {
  return checked(ScopeSchema, value ?? {}, 'scope')
}

/** The ids that name a scope of the service; null where it has none. */
export const ScopeIdsSchema = z.object({
  organizationId: z.string().nullable(),
  documentId: z.string().nullable(),
  annotationId: z.string().nullable(),
  organizationUserGroupId: z.string().nullable(),
})

export const SomeIdsSchema = ScopeIdsSchema.partial()

/** The ids that name a scope; null or absent where it has none. */
export type ScopeIds = z.output<typeof SomeIdsSchema>

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

/** True where the scope names nothing: it is everything in the catalog, of one operation or both. */
export function isEverything(scope: Scope): boolean {
  return Object.entries(scope).every(([name, each]) => name === 'operations' || each === undefined)
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

/** The first member that does not go with the others, and why. */
function combinationFault(scope: Scope): [member: keyof Scope, message: string] | null {
  const one = scope.organizationIds?.length === 1
  if (scope.documentId && !one)
    return ['documentId', 'needs exactly one organization in organizationIds']
  if (scope.annotationId && !scope.documentId) return ['annotationId', 'needs documentId']
  if (scope.commentIds && !scope.annotationId) return ['commentIds', 'needs annotationId']
  if (scope.organizationUserGroupIds && scope.documentId)
    // Not among the six combinations of service-api.md, Get Users.
    return ['organizationUserGroupIds', 'cannot be combined with documentId']
  if (scope.userIds && scope.annotationId)
    return ['userIds', 'cannot be combined with annotationId']
  if (operationsOf(scope, OPERATIONS).length === 0)
    return ['operations', `${scope.operations?.join(', ')} cannot be narrowed that way`]
  return null
}
