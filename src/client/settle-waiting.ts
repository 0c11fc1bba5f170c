import * as holds from '../database/statements/held.ts'
import { settleRejected } from '../database/waiting.ts'
import { UsageError } from '../errors.ts'
import { openPrivacy } from '../privacy/privacy.ts'
import { acceptListing } from '../sync/held.ts'
import { replayRejected } from '../sync/replay/replay.ts'
import { requireStorable, runIdOf, shown } from './collab-sync.ts'
import type { CollabSync, Parts } from './collab-sync.ts'

/** Settles what waits for a person: held listings and rejected records. */
export function settlingOn({
  database,
  settings,
}: Parts): Pick<CollabSync, 'acceptHeld' | 'replayRejectedRecords' | 'setAsideRejectedRecords'> {
  return {
    async acceptHeld(heldId, { runId } = {}) {
      const seenIn = runIdOf(runId)
      const held = Number.isSafeInteger(heldId)
        ? await holds.place.first(database, { heldId })
        : undefined
      if (held === undefined) throw waitsNot(heldId)
      const removed = await acceptListing({ database }, held, seenIn ?? held.runId)
      if (removed !== null) return { removed }
      throw held.runId === seenIn ? waitsNot(heldId) : seenSince(heldId)
    },
    async replayRejectedRecords({ runId } = {}) {
      const of = runIdOf(runId)
      const policy = { email: settings.privacyEmail, raw: settings.privacyRaw }
      const privacy = openPrivacy(database, policy)
      const replayed = await replayRejected({ database, privacy }, of === null ? {} : { runId: of })
      const { stored, still, obsolete } = replayed
      return { replayed: stored, stillRejected: still - obsolete, obsolete }
    },
    async setAsideRejectedRecords(choice, as) {
      requireStorable('reason', as)
      if ('runId' in choice) runIdOf(choice.runId)
      else if (!choice.ids.every((id) => Number.isSafeInteger(id)))
        throw new UsageError(`ids must be ids of rejected records, not ${shown(choice.ids)}.`)
      return { setAside: await settleRejected(database, choice, as) }
    },
  }
}

function waitsNot(heldId: unknown): UsageError {
  return new UsageError(`No held listing ${shown(heldId)} is waiting to be accepted.`)
}

function seenSince(heldId: number): UsageError {
  return new UsageError(
    `A later run has seen another answer of held listing ${heldId} since: look at it again.`,
  )
}
