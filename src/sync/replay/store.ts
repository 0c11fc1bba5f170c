import { COMMENT_COLUMN_LIST, USER_COLUMN_LIST } from '../../columns.ts'
import type { NamedColumn, Texts } from '../../columns.ts'
import { noCounts } from '../../database/claims.ts'
import { readCommentContents, readUserContents } from '../../database/comments.ts'
import type { CommentContent, UserContent } from '../../database/comments.ts'
import type { Client } from '../../database/pool.ts'
import type { BatchScope } from '../../database/scopes.ts'
import type { RowOf } from '../../database/statement.ts'
import * as rejected from '../../database/statements/rejected.ts'
import type { page } from '../../database/statements/rejected.ts'
import * as scopes from '../../database/statements/scopes.ts'
import { USER_SOURCES } from '../../database/users.ts'
import type { UserSource } from '../../database/users.ts'
import { zoneDays } from '../../database/zone-days.ts'
import { CallError } from '../../errors.ts'
import { commitComments } from '../commit/comments.ts'
import { commitUsers } from '../commit/users.ts'
import type { Committing } from '../context.ts'
import type { CommentRecord } from '../record/comment.ts'
import type { UserRecord } from '../record/user.ts'

/** The batch of the records, and what is kept of addresses. */
export type ReplayTo = Pick<Committing, 'batchKey' | 'emails'>

/** Stores comments that are sound today. @returns how many of the readings are in the tables now */
export async function storeReplayedComments(
  client: Client,
  to: ReplayTo,
  scope: BatchScope,
  readings: readonly Rereading<CommentRecord>[],
): Promise<number> {
  const { kind, key } = scope
  const check = await scopes.readCheck.first(client, { batchKey: to.batchKey, kind, key })
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
    await commitComments(client, await committingOf(client, to, toStore), [result])
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
  to: ReplayTo,
  scope: BatchScope,
  readings: readonly Rereading<UserRecord>[],
): Promise<number> {
  const { kind, key } = scope
  const check = await scopes.readCheck.first(client, { batchKey: to.batchKey, kind, key })
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
      mayLackUsers: false,
      rejectedIds: new Set<string>(),
      records: toStore.map(({ record }) => record),
      isListing: !isNarrowed,
      ...partOfAnAnswer(scope),
    }
    await commitUsers(client, await committingOf(client, to, toStore), [result])
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
  { batchKey, emails }: ReplayTo,
  readings: readonly Rereading<unknown>[],
): Promise<Committing> {
  const { runId, operation } = (readings[0] as Rereading<unknown>).row
  const { claimNo, claimedAt, reportTimeZone } = await scopes.claimBatch.one(client, { batchKey })
  const claim = {
    runId,
    claimNo,
    batchXmin: null,
    claimedAt,
    at: claimedAt,
    days: await zoneDays(client, reportTimeZone),
    trigger: 'cli' as const,
    onlyScopes: null,
  }
  // Nothing can be held where nothing is removed.
  return { claim, batchKey, operation, shrinkLimit: 1, emails, counts: noCounts() }
}

async function mark(client: Client, readings: readonly Rereading<unknown>[]): Promise<number> {
  const rejectedIds = readings.map(({ row }) => row.rejectedRecordId)
  if (rejectedIds.length > 0) await rejected.markReplayed.run(client, { rejectedIds })
  return rejectedIds.length
}

/** A rejected record, or a record of which a member was rejected: its JSON text as it was received. */
export type RejectedRow = RowOf<typeof page> & { readonly organizationId: string }

/** A rejected record in which today's readers find no fault. */
export interface Rereading<T> {
  readonly row: RejectedRow
  readonly record: T
}

/**
 * Of each comment or user the reading that was received last, if its scope was not checked after it was: a later check
 * has seen the record again and rejected it in a row of its own, or has not found it.
 * @param readings the newest first
 */
function newestOfEach<T>(
  readings: readonly Rereading<T>[],
  checkedAt: Date | null,
  idOf: (record: T) => unknown,
): Rereading<T>[] {
  const newest = new Map<unknown, Rereading<T>>()
  for (const reading of readings) {
    if (checkedAt !== null && reading.row.at < checkedAt) continue
    const id = idOf(reading.record)
    if (!newest.has(id)) newest.set(id, reading)
  }
  return [...newest.values()]
}

/**
 * Whether a comment may take the place of what is stored: nothing, or the part of it that could be stored then. Nothing was
 * stored of one that was rejected as a whole: what is there is another record, such as the twin that was stored.
 */
function mayReplaceComment(
  before: CommentContent | undefined,
  { row, record }: Rereading<CommentRecord>,
): boolean {
  if (before === undefined) return true
  if (row.isWhole || before.deleted || before.changedAt > row.at) return false
  return isPart(COMMENT_COLUMN_LIST, before.texts, record.texts)
}

/**
 * The same for a user. Between sources the writers' own rule decides, and an equal row is not written.
 * @param source what the rejected record's listing counts as
 */
function mayReplaceUser(
  before: UserContent | undefined,
  { row, record }: Rereading<UserRecord>,
  source: UserSource,
): boolean {
  if (before === undefined || before.source !== source) return true
  if (before.digest.equals(record.digest)) return true
  if (row.isWhole || before.changedAt > row.at) return false
  return isPart(USER_COLUMN_LIST, before.texts, record.texts)
}

/** A column that had to be set to null is part of any value; `rest` takes in what no column could hold. */
function isPart(columns: readonly NamedColumn[], stored: Texts, received: Texts): boolean {
  return columns.every(
    ({ member }, index) =>
      member === null || stored[index] === null || stored[index] === received[index],
  )
}
