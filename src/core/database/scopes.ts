import type { Operation } from '../../base/errors.ts'
import type { Client } from './pool.ts'
import type { On, RowOf } from './statement.ts'
import * as statements from './statements/scopes.ts'

export type ScopeKind = 'organization' | 'group' | 'document' | 'annotation'

/** A scope of a batch; scopes/users-of-batch.sql says what its members are. */
export interface BatchScope extends Omit<RowOf<typeof statements.usersOfBatch>, 'kind'> {
  readonly kind: ScopeKind
  /** Of an annotation when its last good check began; null where there was none. */
  readonly checkedAt?: Date | null
  /** When its answer came, where one claim stands for looks that are far apart; else the time of the claim holds. */
  readonly seenAt?: Date
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

/** Lets scopes keep the time of their last good check, before their batch's time moves on, and whether this try, at `at`, failed. */
export async function keepCheck(
  client: Client,
  scopes: readonly BatchScope[],
  { isFailing, at }: { isFailing: boolean; at: Date },
): Promise<void> {
  for (const [kind, keys] of keysByKind(scopes))
    await KEEP_CHECK[kind].run(client, { keys, isFailing, at })
}

/** Sets the own time of check of scopes that were checked well; null gives them back to their batch. */
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

/** What is now known of a scope's answer; digests are null where the next answer must be looked at again. */
export interface KnownAnswer {
  readonly scope: Pick<BatchScope, 'kind' | 'key'>
  readonly recordCount: number
  readonly bodyDigest: Buffer | null
  readonly contentDigest: Buffer | null
  readonly changed: boolean
  /** When the annotation last changed, as far as its answer tells, in ISO 8601; null or left out where nothing changed. */
  readonly activeAt?: string | null
}

/** A thread that changed within so many seconds is looked at by itself, where there is continuous refresh: 11.4 days. */
export const RECENT_S = 240 * 4 ** 6

const STORE_LISTING = {
  organization: statements.storeAnswerOrganizations,
  group: statements.storeAnswerUserGroups,
  document: statements.storeAnswerDocuments,
}
const KINDS = ['organization', 'group', 'document', 'annotation'] as const

/** Stores what is known of scopes' answers now. @param at when that changed */
export async function storeAnswers(
  client: Client,
  answers: readonly KnownAnswer[],
  at: Date,
): Promise<void> {
  for (const kind of KINDS) {
    const those = answers.filter(({ scope }) => scope.kind === kind)
    if (those.length === 0) continue
    const records = those.map(({ recordCount }) => recordCount)
    if (kind === 'annotation')
      await statements.storeAnswerAnnotations.run(client, {
        ...answerColumns(those),
        liveComments: records,
        isChanged: those.map(({ changed }) => changed),
        at,
        activeAts: those.map(({ activeAt = null }) => activeAt),
        recentS: RECENT_S,
      })
    else await STORE_LISTING[kind].run(client, { ...answerColumns(those), users: records })
  }
}

function answerColumns(answers: readonly KnownAnswer[]) {
  return {
    keys: answers.map(({ scope }) => scope.key),
    bodyDigests: answers.map(({ bodyDigest }) => bodyDigest),
    contentDigests: answers.map(({ contentDigest }) => contentDigest),
  }
}
