import type * as z from 'zod'
import { settleRejected } from './waiting.ts'
import { checked } from '../documents/check.ts'
import { AcceptHeldSchema, HeldIdSchema, RefuseHeldSchema } from '../documents/waiting.ts'
import { decideHeld } from '../core/sync/held.ts'
import type { HeldDecision } from '../core/sync/held.ts'
import type { CollabSync, Parts } from './collab-sync.ts'

export { countHeld, decideHeld, HELD_CHANGED } from '../core/sync/held.ts'
export type { HeldCounts } from '../core/sync/held.ts'

/** Settles what waits for a person: held listings and rejected records. */
export function settlingOn({
  database,
  by,
}: Parts): Pick<CollabSync, 'acceptHeld' | 'refuseHeld' | 'setAsideRejectedRecords'> {
  const decide = (
    heldId: number,
    resolution: HeldDecision['resolution'],
    { runId, reason }: z.output<typeof AcceptHeldSchema>,
  ) => {
    const choice = { heldId: checked(HeldIdSchema, heldId, 'heldId'), runId: runId ?? null }
    const decision = { resolution, by, reason: reason ?? null }
    return decideHeld({ database }, choice, decision)
  }
  return {
    async acceptHeld(heldId, request = {}) {
      const given = checked(AcceptHeldSchema, request, '')
      const { runId, users } = await decide(heldId, 'accepted', given)
      return { runId, accepted: 1, removed: users }
    },
    async refuseHeld(heldId, request) {
      const given = checked(RefuseHeldSchema, request, '')
      const { runId, users } = await decide(heldId, 'refused', given)
      return { runId, refused: 1, kept: users }
    },
    async setAsideRejectedRecords(choice, { reason }) {
      return { changed: await settleRejected(database, choice, { by, reason }) }
    },
  }
}
