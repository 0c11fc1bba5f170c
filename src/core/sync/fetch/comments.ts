import { readStoredComments } from '../../database/comments.ts'
import type { Database } from '../../database/pool.ts'
import type { BatchScope } from '../../database/scopes.ts'
import { CallError } from '../../../base/errors.ts'
import type { Rules } from '../rules.ts'
import type { Call, CollabApi } from '../../service/client.ts'
import { chunkIds } from '../../service/filters.ts'
import { CollectedComments } from '../record/collected-comments.ts'
import type { ObservedMembers } from '../record/observed-members.ts'
import type { AskedResult } from './result.ts'

/** What asking needs. */
export interface Asking {
  readonly collabApi: CollabApi
  readonly database: Database
  /** Most ids in one filter of a call. */
  readonly maxIds: number
  readonly rules: Rules
  /** Notes the members of records; left out where nothing is stored. */
  readonly observed?: ObservedMembers
  /** Whether a commit waits for the result: its calls wait for no memory, since commits free it. */
  readonly isAwaited?: boolean
  /** Whether results hold the text of each record. */
  readonly keepsTexts?: boolean
  /** The time, by which what a listing shows is dated; left out where the time of the claim holds. */
  readonly seenAt?: () => Date
  /** Signals and counters that all its calls share. */
  readonly call: Omit<Call, 'knownDigest'>
}

/**
 * Asks for the comments of one annotation (service-api.md, Get Comments).
 * What is stored but missing from the full listing is asked for by its id: only a null at its place is evidence
 * that it is gone. With `commentIds` just these are asked for.
 * @throws CallError where the listing gave no usable answer
 */
export async function askComments(
  asking: Asking,
  scope: BatchScope,
  commentIds: readonly number[] | null,
): Promise<AskedResult> {
  const collected = new CollectedComments(scope, commentIds === null, asking)
  if (commentIds !== null) {
    await askByIds(asking, scope, commentIds, collected)
    return collected.result(null, null)
  }
  const listing = await askListing(asking, scope, collected)
  const seenAt = asking.seenAt?.()
  if (listing === 'unchanged') return unchanged(scope)
  const contentDigest = collected.contentDigest()
  if (collected.isClean && scope.contentDigest?.equals(contentDigest)) return unchanged(scope)
  if (scope.hasRows) {
    const missing = await missingIds(asking.database, scope, collected)
    if (missing.length > 0) await askByIds(asking, scope, missing, collected)
  }
  const result = collected.isClean
    ? collected.result(asking.rules.sealed(listing.digest), contentDigest)
    : collected.result(null, null)
  return seenAt === undefined ? result : { ...result, scope: { ...scope, seenAt } }
}

/** Asks for the full listing. When it returns, nothing holds the answer any more: a long one is a burden until then. */
async function askListing(
  asking: Asking,
  scope: BatchScope,
  collected: CollectedComments,
): Promise<'unchanged' | { readonly digest: Buffer }> {
  const answer = await asking.collabApi.getComments(filterOf(scope), {
    ...asking.call,
    ...(scope.bodyDigest === null ? {} : { knownDigest: asking.rules.sealed(scope.bodyDigest) }),
  })
  if (answer.status === 'unchanged') return 'unchanged'
  collected.addListing(answer)
  return { digest: answer.digest }
}

function unchanged(scope: BatchScope): AskedResult {
  return { outcome: 'unchanged', scope, records: scope.recordCount }
}

function filterOf(scope: BatchScope) {
  const { organizationId, documentId, annotationId } = scope
  return { organizationId, documentId: documentId ?? '', annotationId: annotationId ?? '' }
}

/** Live comments that are stored and not in the listing. */
async function missingIds(
  database: Database,
  scope: BatchScope,
  collected: CollectedComments,
): Promise<number[]> {
  const stored = (await readStoredComments(database, [scope.key])).get(scope.key)
  return [...(stored ?? [])]
    .filter(([id, { deleted }]) => !deleted && !collected.has(id))
    .map(([id]) => id)
    .sort((a, b) => a - b)
}

/** Asks for comments by id. A failed or odd answer is no evidence: it is reported, and removes nothing. */
async function askByIds(
  asking: Asking,
  scope: BatchScope,
  ids: readonly number[],
  collected: CollectedComments,
): Promise<void> {
  for (const chunk of chunkIds(ids, asking.maxIds)) {
    try {
      const answer = await asking.collabApi.getComments(
        { ...filterOf(scope), commentIds: chunk },
        asking.call,
      )
      if (answer.status === 'data') collected.addAnswerByIds(chunk, answer)
    } catch (error) {
      if (!(error instanceof CallError) || error.concernsEveryCall) throw error
      collected.incomplete = error
    }
  }
}
