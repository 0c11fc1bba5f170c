import * as z from 'zod'
import { canSelect, OPERATION_NAMES } from '../base/operations.ts'
import type { Operation } from '../base/operations.ts'
import { printable } from '../base/printable.ts'
import { checked, id } from './check.ts'

export const OperationSchema = z.enum(OPERATION_NAMES, `must be ${OPERATION_NAMES.join(' or ')}`)

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

export const ScopeSchema = z
  .strictObject(scopeShape(id), 'must be an object')
  .superRefine((scope, context) => {
    const [member, message] = combinationFault(scope) ?? []
    if (member !== undefined) context.addIssue({ code: 'custom', path: [member], message })
  })
  .meta({ id: 'Scope', description: 'The part of the catalog to sync.' })

/** A part of the catalog, as jobs and `/v1` name it; `{}` is the whole catalog. */
export type Scope = z.output<typeof ScopeSchema>

/** The stored scope of a run. It accepts members and IDs of other versions, so that their runs can be listed. */
export const StoredScopeSchema = z
  .looseObject(scopeShape(z.string()))
  .describe('The scope of the run; empty for the whole catalog.')

/** Checks a scope; undefined counts as `{}`. @throws UsageError naming the wrong member */
export function parseScope(value: unknown): Scope {
  return checked(ScopeSchema, value ?? {}, 'scope')
}

export const ScopeIdsSchema = z.object({
  organizationId: z.string().nullable(),
  documentId: z.string().nullable(),
  annotationId: z.string().nullable(),
  organizationUserGroupId: z.string().nullable(),
})

export const SomeIdsSchema = ScopeIdsSchema.partial()

/** The IDs of a scope, null or absent for those that it does not have. */
export type ScopeIds = z.output<typeof SomeIdsSchema>

/**
 * The operations of a scope: those that can be limited to it.
 * @param defaults the operations of the settings (`SYNC_OPERATIONS`)
 */
export function operationsOf(scope: Scope, defaults: readonly Operation[]): Operation[] {
  const wanted = scope.operations ?? defaults
  return OPERATION_NAMES.filter(
    (operation) => wanted.includes(operation) && canSelect(operation, scope),
  )
}

/** Whether the scope is the whole catalog, of some operations or all. */
export function isEverything(scope: Scope): boolean {
  return Object.entries(scope).every(([name, each]) => name === 'operations' || each === undefined)
}

/** Describes a scope: `organization acme, document plan`. */
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

/** The first member that cannot be combined with the others, and why. */
function combinationFault(scope: Scope): [member: keyof Scope, message: string] | null {
  const one = scope.organizationIds?.length === 1
  if (scope.documentId && !one)
    return ['documentId', 'needs exactly one organization in organizationIds']
  if (scope.annotationId && !scope.documentId) return ['annotationId', 'needs documentId']
  if (scope.commentIds && !scope.annotationId) return ['commentIds', 'needs annotationId']
  if (scope.organizationUserGroupIds && scope.documentId)
    // Not among the six combinations of docs/SERVICE.md, Get Users.
    return ['organizationUserGroupIds', 'cannot be combined with documentId']
  if (scope.userIds && scope.annotationId)
    return ['userIds', 'cannot be combined with annotationId']
  if (operationsOf(scope, OPERATION_NAMES).length === 0)
    return ['operations', `${scope.operations?.join(', ')} cannot be used with this scope`]
  return null
}
