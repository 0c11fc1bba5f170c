import { COMMENT_COLUMN_LIST, USER_COLUMN_LIST } from '../../base/columns.ts'
import type { Operation } from '../../base/operations.ts'
import type { NamedColumn, Texts } from '../../base/columns.ts'
import { readCommentContents } from '../../core/database/comments.ts'
import type { Database } from '../../core/database/pool.ts'
import { readSetAside } from '../../core/database/failures.ts'
import { readRemovals, readUserContents, USER_SOURCES } from '../../core/database/users.ts'
import type { UserContent } from '../../core/database/users.ts'
import { LISTED_USERS } from '../../core/sync/commit/listed-users.ts'
import type { RecordsResult } from '../../core/sync/fetch/result.ts'
import { canonicalJson, digestOfRejected } from '../../core/sync/record/digest.ts'
import type { UserRecord } from '../../core/sync/record/user.ts'

export interface ContentDifference {
  /** `commentId` or `userId`; null if the record was rejected. */
  readonly id: number | string | null
  /** `missing` in the tables, `extra` in the tables, `different`, or `rejected` because it cannot be stored. */
  readonly kind: 'missing' | 'extra' | 'different' | 'rejected'
  /** Why it was rejected; null for other kinds. */
  readonly reason: string | null
  /** Columns that differ; `rest` stands for fields without a column. Empty unless `different`. */
  readonly columns: readonly string[]
  /** Whether `lastUpdated` of a comment is later than the last check. */
  readonly isChangedSince: boolean
  /** Whether a rejected record was set aside. */
  readonly isSetAside: boolean
  /** Whether the removal of an extra user is pending approval or was refused; null if neither. */
  readonly removal: 'held' | 'refused' | null
}

/**
 * Compares a response with the stored rows, column by column.
 * @returns `records`: how many there are of the service, the tables or both
 */
export async function compareContents<O extends Operation>(
  database: Database,
  result: RecordsResult<O>,
  checkedAt: Date | null,
) {
  const { records, differences } = await COMPARE[result.operation](database, result, checkedAt)
  const rejected = await rejectedOf(database, result)
  return { records: records + rejected.length, differences: [...differences, ...rejected] }
}

const COMPARE: {
  readonly [O in Operation]: (
    database: Database,
    result: RecordsResult<O>,
    checkedAt: Date | null,
  ) => ReturnType<typeof compareComments>
} = { users: compareUsers, comments: compareComments }

/** Whole records of a response that cannot be stored. */
async function rejectedOf(
  database: Database,
  { operation, scope, rejects }: RecordsResult,
): Promise<ContentDifference[]> {
  const lost = rejects
    .filter(({ isWhole }) => isWhole)
    .map((reject) => ({
      reason: reject.reason,
      digest: digestOfRejected(operation, scope, reject),
    }))
  const digests = lost.map(({ digest }) => digest)
  const setAside = await readSetAside(database, digests)
  return lost.map(({ reason, digest }) => ({
    ...difference(null, 'rejected'),
    reason,
    isSetAside: setAside.has(digest.toString('hex')),
  }))
}

async function compareComments(
  database: Database,
  { scope, records, gone, isListing }: RecordsResult<'comments'>,
  checkedAt: Date | null,
) {
  const ids = isListing ? null : [...records.map(({ commentId }) => commentId), ...gone]
  const stored = await readCommentContents(database, scope.key, ids)
  const differences: ContentDifference[] = []
  for (const record of records) {
    const { commentId: id, lastUpdated } = record
    const before = stored.get(id)
    const isMissing = before === undefined || before.deleted
    const columns = isMissing ? [] : differing(COMMENT_COLUMN_LIST, before.texts, record.texts)
    if (!isMissing && columns.length === 0) continue
    // Clocks differ, but this distinguishes an edit of today from an error of last week.
    const isChangedSince =
      checkedAt !== null && lastUpdated !== null && Date.parse(lastUpdated) > checkedAt.getTime()
    const kind = isMissing ? 'missing' : 'different'
    differences.push({ ...difference(id, kind), columns, isChangedSince })
  }
  const extra = gone.filter((id) => stored.get(id)?.deleted === false)
  differences.push(...extra.map((id) => difference(id, 'extra')))
  return { records: records.length + extra.length, differences }
}

async function compareUsers(database: Database, result: RecordsResult<'users'>) {
  const { scope, records, isListing } = result
  const isOwnListing = scope.kind === 'organization' && isListing
  const ids = records.map(({ userId }) => userId)
  const stored = await readUserContents(database, scope.organizationKey, ids, isOwnListing)
  const members = isListing ? await membersOf(database, result, stored) : null
  const differences: ContentDifference[] = []
  for (const record of records) {
    const { userId: id } = record
    const before = stored.get(id)
    const isMissing = before === undefined || members?.has(id) === false
    const columns = isMissing ? [] : userColumns(before, record, scope.kind === 'organization')
    if (!isMissing && columns.length === 0) continue
    // Users have no time of change, so changes since the last check count as differences.
    differences.push({ ...difference(id, isMissing ? 'missing' : 'different'), columns })
  }
  const received = new Set(ids)
  const extra = result.mayLack ? [] : [...(members ?? [])].filter((id) => !received.has(id))
  const listing = { operation: result.operation, kind: scope.kind, scopeKey: scope.key }
  const removals = extra.length === 0 ? null : await readRemovals(database, listing)
  for (const id of extra)
    differences.push({ ...difference(id, 'extra'), removal: removals?.get(id) ?? null })
  return { records: records.length + extra.length, differences }
}

/** The users of the listing according to the tables. */
async function membersOf(
  database: Database,
  { scope }: RecordsResult<'users'>,
  stored: ReadonlyMap<string, UserContent>,
): Promise<Set<string>> {
  if (scope.kind === 'organization')
    return new Set([...stored].filter(([, { listed }]) => listed).map(([id]) => id))
  const [members] = await LISTED_USERS.readStored(database, [scope])
  return new Set([...(members ?? [])].filter(([, hasLeft]) => !hasLeft).map(([id]) => id))
}

/** A listing of a document or group does not determine a row that comes from the organization's listing. */
function userColumns(before: UserContent, record: UserRecord, isOrganization: boolean): string[] {
  if (before.source === USER_SOURCES.listing && !isOrganization) return []
  return differing(USER_COLUMN_LIST, before.texts, record.texts)
}

/** The columns in which two records differ. */
function differing(columns: readonly NamedColumn[], before: Texts, received: Texts): string[] {
  return columns
    .filter(({ type }, index) => {
      const [one = null, other = null] = [before[index], received[index]]
      return type === 'jsonb' ? canonicalOf(one) !== canonicalOf(other) : one !== other
    })
    .map(({ column }) => column)
}

/** PostgreSQL writes jsonb with another order of fields. */
function canonicalOf(json: string | null): string | null {
  return json === null ? null : canonicalJson(JSON.parse(json))
}

function difference(
  id: ContentDifference['id'],
  kind: ContentDifference['kind'],
): ContentDifference {
  const known = { isChangedSince: false, isSetAside: false, removal: null }
  return { id, kind, reason: null, columns: [], ...known }
}
