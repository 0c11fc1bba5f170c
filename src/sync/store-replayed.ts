import { readCommentContents, readUserContents } from '../database/contents.ts'
import { noCounts } from '../database/claims.ts'
import type { Client } from '../database/pool.ts'
import type { BatchScope } from '../database/scopes.ts'
import * as scopes from '../database/statements/scopes.ts'
import * as rejected from '../database/statements/rejected.ts'
import { USER_SOURCES } from '../database/users.ts'
import { CallError } from '../errors.ts'
import type { CommentRecord } from './comment-record.ts'
import { commitComments } from './commit-comments.ts'
import { commitUsers } from './commit-users.ts'
import type { Committing } from './committing.ts'
import { mayReplaceComment, mayReplaceUser, newestOfEach } from './judge-replay.ts'
import type { Rereading } from './judge-replay.ts'
import type { UserRecord } from './user-record.ts'

/** Stores comments that are sound today. @returns how many of the readings are in the tables now */
export async function storeReplayedComments(
  client: Client,
  batchKey: number,
  scope: BatchScope,
  readings: readonly Rereading<CommentRecord>[],
): Promise<number> {
  const { kind, key } = scope
  const check = await scopes.readCheck.first(client, { batchKey, kind, key })
  const ids = readings.map(({ record }) => record.commentId)
  const stored = await readCommentContents(client, scope.key, ids)
  const toStore = newestOfEach(
    readings,
    check?.checkedAt ?? null,
    ({ commentId }) => commentId,
  ).filter((reading) => mayReplaceComment(stored.get(reading.record.commentId), reading))
  if (toStore.length > 0) {
    const result = {
      outcome: 'comments' as const,
      records: toStore.map(({ record }) => record),
      gone: [],
      isListing: false,
      ...partOfAnAnswer(scope),
    }
    await commitComments(client, await committingOf(client, batchKey, toStore), [result])
  }
  const nowStored = await readCommentContents(client, scope.key, ids)
  return mark(
    client,
    readings.filter(({ record }) => {
      const comment = nowStored.get(record.commentId)
      return comment?.deleted === false && comment.digest.equals(record.digest)
    }),
  )
}

/** Stores users that are sound today, and joins them to the listing they were received in. @returns as storeReplayedComments */
export async function storeReplayedUsers(
  client: Client,
  batchKey: number,
  scope: BatchScope,
  readings: readonly Rereading<UserRecord>[],
): Promise<number> {
  const { kind, key } = scope
  const check = await scopes.readCheck.first(client, { batchKey, kind, key })
  const isNarrowed = readings[0]?.row.isNarrowed ?? false
  const source =
    scope.kind === 'organization' || isNarrowed ? USER_SOURCES.listing : USER_SOURCES.member
  const ids = readings.map(({ record }) => record.userId)
  const stored = await readUserContents(client, scope.organizationKey, ids, false)
  const toStore = newestOfEach(readings, check?.checkedAt ?? null, ({ userId }) => userId).filter(
    (reading) => mayReplaceUser(stored.get(reading.record.userId), reading, source),
  )
  if (toStore.length > 0) {
    const result = {
      outcome: 'users' as const,
      nameless: 0,
      rejectedIds: new Set<string>(),
      records: toStore.map(({ record }) => record),
      isListing: !isNarrowed,
      ...partOfAnAnswer(scope),
    }
    await commitUsers(client, await committingOf(client, batchKey, toStore), [result])
  }
  // One record may have been rejected for several of its members: a row each.
  const storedDigests = new Set(toStore.map(({ record }) => record.digest.toString('hex')))
  return mark(
    client,
    readings.filter(({ record }) => storedDigests.has(record.digest.toString('hex'))),
  )
}

/** The members of a result that holds just some records of a listing: it adds, and says nothing of what it lacks. */
function partOfAnAnswer(scope: BatchScope) {
  return {
    // What is stored may have come from answers that left no digest.
    scope: { ...scope, hasRows: true },
    rejects: [],
    rejectedItems: 0,
    bodyDigest: null,
    contentDigest: null,
    incomplete: new CallError('Replayed records are not a whole listing.', { kind: 'refused' }),
  }
}

async function committingOf(
  client: Client,
  batchKey: number,
  readings: readonly Rereading<unknown>[],
): Promise<Committing> {
  const { runId, operation } = (readings[0] as Rereading<unknown>).row
  const { claimNo, claimedAt } = await scopes.claimBatch.one(client, { batchKey })
  const claim = {
    runId,
    claimNo,
    batchVersion: claimNo,
    claimedAt,
    at: claimedAt,
    trigger: 'cli' as const,
    onlyScopes: null,
  }
  // Nothing can be held where nothing is removed.
  return { claim, batchKey, operation, shrinkLimit: 1, counts: noCounts() }
}

async function mark(client: Client, readings: readonly Rereading<unknown>[]): Promise<number> {
  const rejectedIds = readings.map(({ row }) => row.rejectedRecordId)
  if (rejectedIds.length > 0) await rejected.markReplayed.run(client, { rejectedIds })
  return rejectedIds.length
}
