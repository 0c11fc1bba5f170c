import { transaction } from '../../database/pool.ts'
import type { Client } from '../../database/pool.ts'
import { readScopes } from '../../database/scopes.ts'
import type { BatchScope } from '../../database/scopes.ts'
import type { RowOf } from '../../database/statement.ts'
import * as definitions from '../../database/statements/definitions.ts'
import * as rejected from '../../database/statements/rejected.ts'
import * as scopes from '../../database/statements/scopes.ts'
import type { SyncContext } from '../context.ts'
import { readComment } from '../record/comment.ts'
import type { CommentRecord } from '../record/comment.ts'
import { receivedBefore } from '../record/received.ts'
import type { Received, Reject } from '../record/received.ts'
import { readUsers } from '../record/user.ts'
import type { UserRecord } from '../record/user.ts'
import { storeReplayedComments, storeReplayedUsers } from './store.ts'
import type { RejectedRow, ReplayTo, Rereading } from './store.ts'

/** What a replay did. */
export interface Replayed {
  /** Rows of `sync.rejected_records` that were looked at. */
  readonly tried: number
  /** Of these, those whose record is now in the tables as received. */
  readonly stored: number
  /** The others: their record is still not sound, or obsolete. */
  readonly still: number
  /** Of the others, those whose record is sound, but whose scope a newer answer has spoken of, or is in no catalog. */
  readonly obsolete: number
}

/** Of some rows: sound ones, and how many of these are in the tables now. */
interface ReplayedRows {
  readonly sound: number
  readonly stored: number
}

type StoredRow = RowOf<typeof rejected.page>
type ReplayContext = Pick<SyncContext, 'database' | 'privacy'>

/** A record may be as long as an answer: its characters bound what a page holds in memory. */
const PAGE = { limit: 500, mostCharacters: 4_000_000 }

/**
 * Tries rejected records again, without a call: today's program may be able to read what an older one was not. A
 * record is stored when nothing about it is rejected any more and nothing newer is known: its scope is in the catalog
 * and was not checked since, and what is stored of it came from that very answer. The newest come first, so that an older
 * record never overwrites a newer one. Safe to repeat, and to stop at any point.
 * @param of.runId only what that run rejected
 */
export async function replayRejected(
  context: ReplayContext,
  of: { runId?: string } = {},
): Promise<Replayed> {
  let tried = 0
  let stored = 0
  let sound = 0
  let before: number | null = null
  for (;;) {
    const place = { runId: of.runId ?? null, before, ...PAGE }
    const page: StoredRow[] = await rejected.page.all(context.database, place)
    const last = page.at(-1)
    if (last === undefined) {
      return { tried, stored, still: tried - stored, obsolete: sound - stored }
    }
    for (const rows of byScope(page)) {
      const replayed = await replayScope(context, rows)
      stored += replayed.stored
      sound += replayed.sound
    }
    tried += page.length
    before = last.rejectedRecordId
  }
}

/** Rows of one scope; narrowed answers apart, since they say nothing of membership. */
function byScope(page: readonly StoredRow[]): [RejectedRow, ...RejectedRow[]][] {
  const groups = new Map<string, [RejectedRow, ...RejectedRow[]]>()
  for (const row of page) {
    const { operation, organizationId, documentId, annotationId, organizationUserGroupId } = row
    // No program of ours leaves it out; the table allows it.
    if (organizationId === null) continue
    const ids = [organizationId, documentId, annotationId, organizationUserGroupId]
    const key = JSON.stringify([operation, ...ids, row.isNarrowed])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [{ ...row, organizationId }])
    else group.push({ ...row, organizationId })
  }
  return [...groups.values()]
}

async function replayScope(
  context: ReplayContext,
  rows: readonly [RejectedRow, ...RejectedRow[]],
): Promise<ReplayedRows> {
  const [{ operation }] = rows
  if (operation === 'users') return replayWith(context, rows, rereadUser, storeReplayedUsers)
  const { writtenMember } = await definitions.read.one(context.database)
  const path = writtenMember?.split('.') ?? null
  const reread = (received: Received) => rereadComment(received, path)
  return replayWith(context, rows, reread, storeReplayedComments)
}

async function replayWith<T>(
  context: ReplayContext,
  rows: readonly [RejectedRow, ...RejectedRow[]],
  reread: (received: Received) => T | null,
  store: (
    client: Client,
    to: ReplayTo,
    scope: BatchScope,
    readings: readonly Rereading<T>[],
  ) => Promise<number>,
): Promise<ReplayedRows> {
  const [{ operation, organizationId }] = rows
  const rereadAll = async () => {
    const { redact } = await context.privacy.of(organizationId, null)
    return rows.flatMap((row) => {
      // What could not be cut out of its answer was kept as an empty text.
      if (row.record === '') return []
      const record = soundOrNull(() => reread(receivedBefore(row.record, redact?.[operation])))
      return record === null ? [] : [{ row, record }]
    })
  }
  // Most are as unsound as they were: nothing is locked for those.
  const sound = (await rereadAll()).length
  const place = sound === 0 ? undefined : await scopes.find.first(context.database, rows[0])
  if (place === undefined) return { sound, stored: 0 }
  const stored = await transaction(context.database, async (client) => {
    const { batchKey } = place
    await scopes.lockBatch.one(client, { batchKey, runId: null })
    const active = await readScopes(client, batchKey, operation)
    const scope = active.find(({ kind, key }) => kind === place.kind && key === place.key)
    // Read again behind the lock: somebody may have been erased meanwhile.
    return scope === undefined
      ? 0
      : store(client, { batchKey, emails: context.privacy.emails }, scope, await rereadAll())
  })
  return { sound, stored }
}

/** A record that cannot even be read, as one that was cut, is as unsound as it was. */
function soundOrNull<T>(reread: () => T | null): T | null {
  try {
    return reread()
  } catch {
    return null
  }
}

/** The comment, where today's readers find no fault in it. */
function rereadComment(
  received: Received,
  writtenPath: readonly string[] | null,
): CommentRecord | null {
  const rejects: Reject[] = []
  const item = readComment(received, 0, (reject) => rejects.push(reject), writtenPath)
  return 'fault' in item || rejects.length > 0 ? null : item.record
}

function rereadUser(received: Received): UserRecord | null {
  const { records, rejects } = readUsers(received)
  return rejects.length > 0 ? null : (records[0] ?? null)
}
