import * as holds from '../database/statements/held.ts'
import { settleRejected } from '../database/waiting.ts'
import { checked } from '../documents/check.ts'
import { AcceptHeldSchema, RefuseHeldSchema } from '../documents/waiting.ts'
import { UsageError } from '../errors.ts'
import { decideHeld } from '../sync/held.ts'
import type { HeldDecision } from '../sync/held.ts'
import type { CollabSync, Parts } from './collab-sync.ts'

/** Settles what waits for a person: held listings and rejected records. */
export function settlingOn({
  database,
  by,
}: Parts): Pick<CollabSync, 'acceptHeld' | 'refuseHeld' | 'setAsideRejectedRecords'> {
  const decide = async (
    heldId: number,
    resolution: HeldDecision['resolution'],
    {
      runId: seenIn,
      reason = null,
    }: { runId?: string | undefined; reason?: string | undefined | null },
  ) => {
    const [held] = Number.isSafeInteger(heldId)
      ? await holds.places.all(database, { heldId, runId: null, organizationId: null })
      : []
    const waitsNot = new UsageError(
      `No held listing ${JSON.stringify(heldId)} is waiting to be ${resolution}.`,
    )
    if (held === undefined) throw waitsNot
    if (seenIn !== undefined && seenIn !== held.runId)
      throw new UsageError(
        `A later run has seen another answer of held listing ${heldId} since: look at it again.`,
      )
    const done = await decideHeld({ database }, held, { resolution, by, reason })
    if (done.listings === 0) throw waitsNot
    return { runId: held.runId, users: done.users }
  }
  return {
    async acceptHeld(heldId, request = {}) {
      const { runId, users } = await decide(
        heldId,
        'accepted',
        checked(AcceptHeldSchema, request, ''),
      )
      return { runId, accepted: 1, removed: users }
    },
    async refuseHeld(heldId, request) {
      const { runId, users } = await decide(
        heldId,
        'refused',
        checked(RefuseHeldSchema, request, ''),
      )
      return { runId, refused: 1, kept: users }
    },
    async setAsideRejectedRecords(choice, { reason }) {
      return { changed: await settleRejected(database, choice, { by, reason }) }
    },
  }
}
