import * as holds from '../database/statements/held.ts'
import { settleRejected } from '../database/waiting.ts'
import { checked } from '../documents/check.ts'
import { AcceptHeldSchema } from '../documents/waiting.ts'
import { UsageError } from '../errors.ts'
import { acceptListing } from '../sync/held.ts'
import type { CollabSync, Parts } from './collab-sync.ts'

/** Settles what waits for a person: held listings and rejected records. */
export function settlingOn({
  database,
}: Parts): Pick<CollabSync, 'acceptHeld' | 'setAsideRejectedRecords'> {
  return {
    async acceptHeld(heldId, request = {}) {
      const { runId: seenIn } = checked(AcceptHeldSchema, request, '')
      const held = Number.isSafeInteger(heldId)
        ? await holds.place.first(database, { heldId })
        : undefined
      if (held === undefined) throw waitsNot(heldId)
      const runId = seenIn ?? held.runId
      const removed = await acceptListing({ database }, held, runId)
      if (removed !== null) return { runId, accepted: 1, removed }
      throw held.runId === seenIn ? waitsNot(heldId) : seenSince(heldId)
    },
    async setAsideRejectedRecords(choice, as) {
      const setAside = await settleRejected(database, choice, as)
      return { setAside, changed: setAside }
    },
  }
}

function waitsNot(heldId: unknown): UsageError {
  return new UsageError(`No held listing ${JSON.stringify(heldId)} is waiting to be accepted.`)
}

function seenSince(heldId: number): UsageError {
  return new UsageError(
    `A later run has seen another answer of held listing ${heldId} since: look at it again.`,
  )
}
