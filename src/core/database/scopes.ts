import type { Operation, ScopeKind } from '../../base/operations.ts'
import type { Client } from './pool.ts'
import type { On, RowOf } from './statement.ts'
import * as statements from './statements/scopes.ts'

/** A scope of a batch; scopes/listings-of-batch.sql says what its members are. */
export interface BatchScope extends Omit<RowOf<typeof statements.listingsOfBatch>, 'kind'> {
  readonly kind: ScopeKind
  /** Of an annotation when its last good check began; null where there was none. */
  readonly checkedAt?: Date | null
  /** When its response came, where one claim has polls that are far apart; the time of the claim when left out. */
  readonly seenAt?: Date
}

/** The ids by which a scope is called for. */
export type ScopeIds = Pick<
  BatchScope,
  'organizationId' | 'documentId' | 'annotationId' | 'organizationUserGroupId'
>

/** Just the ids of a scope. */
export function idsOf(scope: ScopeIds): ScopeIds {
  const { organizationId, documentId, annotationId, organizationUserGroupId } = scope
  return { organizationId, documentId, annotationId, organizationUserGroupId }
}

/** The active scopes of a batch, in their order. @param onlyScopes bit n is `1` if scope n is to be read; null reads all */
export function readScopes(
  on: On,
  batchKey: number,
  operation: Operation,
  onlyScopes: string | null = null,
): Promise<BatchScope[]> {
  const statement = SCOPES_OF_BATCH[operation] ?? statements.listingsOfBatch
  return statement.all(on, { batchKey, onlyScopes }) as Promise<BatchScope[]>
}

/** Of operations whose scopes are not in collab_store.listings. */
const SCOPES_OF_BATCH: { readonly [O in Operation]?: typeof statements.commentsOfBatch } = {
  comments: statements.commentsOfBatch,
}

/** Lets scopes keep the time of their last good check, before their batch's time moves on, and whether this try, at `at`, failed. */
export async function keepCheck(
  client: Client,
  batchKey: number,
  scopes: readonly BatchScope[],
  { isFailing, at }: { isFailing: boolean; at: Date },
): Promise<void> {
  if (scopes.length > 0)
    await statements.keepCheck.run(client, { batchKey, ...numbersOf(scopes), isFailing, at })
}

/** Sets the own time of check of scopes that were checked well; null gives them back to their batch. */
export async function setCheck(
  client: Client,
  batchKey: number,
  scopes: readonly BatchScope[],
  at: Date | null,
): Promise<void> {
  if (scopes.length > 0)
    await statements.setCheck.run(client, { batchKey, ...numbersOf(scopes), at })
}

function numbersOf(scopes: readonly Pick<BatchScope, 'scopeNo'>[]) {
  return { scopeNos: scopes.map(({ scopeNo }) => scopeNo) }
}

/** What is now known of the response of a scope; digests are null where the next one must be compared in any case. */
export interface KnownResponse {
  readonly scope: Pick<BatchScope, 'scopeNo' | 'key'>
  readonly recordCount: number
  readonly bodyDigest: Buffer | null
  readonly contentDigest: Buffer | null
}

/** Stores what is known of listings of a batch now. */
export async function storeListings(
  client: Client,
  batchKey: number,
  listings: readonly KnownResponse[],
): Promise<void> {
  if (listings.length === 0) return
  await statements.storeListings.run(client, {
    batchKey,
    ...numbersOf(listings.map(({ scope }) => scope)),
    recordCounts: listings.map(({ recordCount }) => recordCount),
    ...responseColumns(listings),
  })
}

/** What is now known of the comments of an annotation. */
export interface KnownAnnotation extends KnownResponse {
  readonly changed: boolean
  /** When the annotation last changed, as far as its response shows, in ISO 8601; null where nothing changed. */
  readonly activeAt: string | null
}

/** Continuous refresh polls a thread that changed within so many seconds by itself: 11.4 days. */
export const RECENT_S = 240 * 4 ** 6

/** Stores what is known of annotations now. @param at when that changed */
export async function storeAnnotations(
  client: Client,
  annotations: readonly KnownAnnotation[],
  at: Date,
): Promise<void> {
  if (annotations.length === 0) return
  await statements.storeAnnotations.run(client, {
    liveComments: annotations.map(({ recordCount }) => recordCount),
    isChanged: annotations.map(({ changed }) => changed),
    at,
    activeAts: annotations.map(({ activeAt }) => activeAt),
    recentS: RECENT_S,
    keys: annotations.map(({ scope }) => scope.key),
    ...responseColumns(annotations),
  })
}

function responseColumns(known: readonly KnownResponse[]) {
  return {
    bodyDigests: known.map(({ bodyDigest }) => bodyDigest),
    contentDigests: known.map(({ contentDigest }) => contentDigest),
  }
}
