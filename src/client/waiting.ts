import type * as z from 'zod'
import { AttentionByKindSchema } from '../schemas/attention.ts'
import type { AttentionByKind } from '../schemas/attention.ts'
import { checked } from '../schemas/check.ts'
import { HeldIdSchema, SetAsideBySchema } from '../schemas/waiting.ts'
import type { AcceptHeldSchema, RejectedChoice } from '../schemas/waiting.ts'
import { UsageError } from '../base/errors.ts'
import { noteAction } from '../core/database/actions.ts'
import { transaction } from '../core/database/pool.ts'
import type { Database } from '../core/database/pool.ts'
import type { RowOf } from '../core/database/statement.ts'
import * as attention from '../core/database/statements/attention.ts'
import * as pages from '../core/database/statements/pages.ts'
import * as rejected from '../core/database/statements/rejected.ts'
import { decideHeld } from '../core/sync/held.ts'
import type { HeldDecision } from '../core/sync/held.ts'
import type { Parts } from './parts.ts'

/** Open problems by kind, most urgent first. */
export async function readAttention(database: Database): Promise<AttentionByKind[]> {
  const rows = await attention.byKind.all(database)
  return rows.map((row) => AttentionByKindSchema.parse(row))
}

/**
 * Adds the users of held listings: those that the response lacked, and those that it contained.
 * @param after the last users of the previous page
 */
export async function withHeldUsers<Listing extends { readonly heldId: number }>(
  database: Database,
  listings: readonly Listing[],
  limit: number,
  after: { missing?: string | undefined; staying?: string | undefined } = {},
) {
  const { missing: afterMissing = null, staying: afterStaying = null } = after
  const heldIds = listings.map(({ heldId }) => heldId)
  const rows = await pages.heldUsers.all(database, { heldIds, limit, afterMissing, afterStaying })
  return listings.map((listing) => {
    const ofListing = rows.filter(({ heldId }) => heldId === listing.heldId)
    const missing = someUsers(ofListing.filter((row) => row.isMissing))
    return { ...listing, missing, staying: someUsers(ofListing.filter((row) => !row.isMissing)) }
  })
}

function someUsers(rows: readonly RowOf<typeof pages.heldUsers>[]) {
  return {
    inAll: rows[0]?.inAll ?? 0,
    /** Number of users after the first ones. */
    more: (rows[0]?.fromHere ?? 0) - rows.length,
    first: rows.map(({ userId, name }) => ({ userId, name })),
  }
}

/**
 * Sets rejected records aside, or reopens them if `reason` is null.
 * @returns the number of changed contents
 * @throws UsageError for an invalid `SetAside`; if a record does not exist
 */
export async function resolveRejected(
  database: Database,
  choice: RejectedChoice,
  { by, reason }: { by: string; reason: string | null },
): Promise<number> {
  const ids = 'ids' in choice ? [...new Set(choice.ids)] : null
  const meant = { rejectedIds: ids, runId: 'runId' in choice ? choice.runId : null }
  const given = { rejectedRecordIds: ids ?? undefined, runId: meant.runId ?? undefined }
  if (reason !== null) checked(SetAsideBySchema, { by, reason, ...given })
  return transaction(database, async (client) => {
    const { found, changed } = await (reason === null
      ? rejected.restore.one(client, meant)
      : rejected.setAside.one(client, { ...meant, by, reason }))
    if (found > 0 && found >= (ids ?? []).length) {
      const action = reason === null ? 'records_restored' : 'records_set_aside'
      const target = ids?.join(', ') ?? null
      if (changed > 0) await noteAction(client, by, action, { runId: meant.runId, target, reason })
      return changed
    }
    throw new UsageError(
      ids === null
        ? 'That run has no rejected record that is open or set aside.'
        : `Only ${found} of ${ids.length} IDs are rejected records that are open or set aside. Nothing was changed.`,
    )
  })
}

/** Decides about a held listing. @throws UsageError if it is no longer held */
export async function decide(
  { database, by }: Pick<Parts, 'database' | 'by'>,
  request: { heldId: number } & z.output<typeof AcceptHeldSchema>,
  resolution: HeldDecision['resolution'],
) {
  const { runId = null, reason = null } = request
  const heldId = checked(HeldIdSchema, request.heldId, 'heldId')
  return decideHeld({ database }, { heldId, runId }, { resolution, by, reason })
}
