import type { Operation } from '../errors.ts'
import type { Client } from './pool.ts'
import type { On, RowOf } from './statement.ts'
import * as statements from './statements/scopes.ts'

export type ScopeKind = 'organization' | 'group' | 'document' | 'annotation'

/** A scope of a batch; scopes/users-of-batch.sql says what its members are. */
export interface BatchScope extends Omit<RowOf<typeof statements.usersOfBatch>, 'kind'> {
  readonly kind: ScopeKind
}

/** The ids that a scope is asked for by. */
export type ScopeIds = Pick<
  BatchScope,
  'organizationId' | 'documentId' | 'annotationId' | 'organizationUserGroupId'
>

const KEEP_CHECK = {
  organization: statements.keepCheckOrganizations,
  group: statements.keepCheckUserGroups,
  document: statements.keepCheckDocuments,
  annotation: statements.keepCheckAnnotations,
}
const SET_CHECK = {
  organization: statements.setCheckOrganizations,
  group: statements.setCheckUserGroups,
  document: statements.setCheckDocuments,
  annotation: statements.setCheckAnnotations,
}

/** The active scopes of a batch, in their order. */
export async function readScopes(
  on: On,
  batchKey: number,
  operation: Operation,
): Promise<BatchScope[]> {
  if (operation === 'users') return statements.usersOfBatch.all(on, { batchKey })
  const annotations = await statements.commentsOfBatch.all(on, { batchKey })
  return annotations.map((each) => ({ ...each, kind: 'annotation' }))
}

/** Lets scopes keep the time of their last good check, before their batch's time moves on. */
export async function keepCheck(client: Client, scopes: readonly BatchScope[]): Promise<void> {
  for (const [kind, keys] of keysByKind(scopes)) await KEEP_CHECK[kind].run(client, { keys })
}

/** Sets scopes' own time of check; null gives them back to their batch. */
export async function setCheck(
  client: Client,
  scopes: readonly BatchScope[],
  at: Date | null,
): Promise<void> {
  for (const [kind, keys] of keysByKind(scopes)) await SET_CHECK[kind].run(client, { keys, at })
}

/**
 * Users of an organization were written from a scope outside its first users batch: its own listing must be looked at
 * again even if it is the one stored last, and an older answer to it must not overwrite them.
 * @returns false where a newer claim has written to that batch
 */
export async function touchHeadBatch(
  client: Client,
  organizationKey: number,
  claimNo: number,
): Promise<boolean> {
  const touched = await statements.touchHeadBatch.run(client, { organizationKey, claimNo })
  await statements.forgetAnswerOrganizations.run(client, { organizationKey })
  return touched === 1
}

function keysByKind(scopes: readonly BatchScope[]): Map<ScopeKind, number[]> {
  const keys = new Map<ScopeKind, number[]>()
  for (const { kind, key } of scopes) keys.set(kind, [...(keys.get(kind) ?? []), key])
  return keys
}
