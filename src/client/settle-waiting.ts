import type * as z from 'zod'
import type { Database } from '../database/pool.ts'
import * as holds from '../database/statements/held.ts'
import { settleRejected } from '../database/waiting.ts'
import { checked } from '../documents/check.ts'
import { AcceptHeldSchema, ReplaySchema } from '../documents/waiting.ts'
import type { Replayed } from '../documents/waiting.ts'
import { UsageError } from '../errors.ts'
import { openPrivacy } from '../privacy/privacy.ts'
import type { Settings } from '../settings/table.ts'
import { acceptListing } from '../sync/held.ts'
import { replayRejected } from '../sync/replay/replay.ts'
import type { CollabSync, Parts } from './collab-sync.ts'

/** Settles what waits for a person: held listings and rejected records. */
export function settlingOn({
  database,
  settings,
}: Parts): Pick<CollabSync, 'acceptHeld' | 'replayRejectedRecords' | 'setAsideRejectedRecords'> {
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
    replayRejectedRecords: (request = {}) => replay(database, settings, request),
    async setAsideRejectedRecords(choice, as) {
      const setAside = await settleRejected(database, choice, as)
      return { setAside, changed: setAside }
    },
  }
}

/** Tries rejected records again, with what the settings let be stored of a person. @throws UsageError for a wrong request */
export async function replay(
  database: Database,
  settings: Settings,
  request: z.input<typeof ReplaySchema>,
): Promise<Replayed> {
  const { runId } = checked(ReplaySchema, request, '')
  const policy = { email: settings.privacyEmail, raw: settings.privacyRaw }
  const of = runId === undefined ? {} : { runId }
  const done = await replayRejected({ database, privacy: openPrivacy(database, policy) }, of)
  const { stored, still, obsolete } = done
  return { ...of, ...done, replayed: stored, stillRejected: still - obsolete }
}

function waitsNot(heldId: unknown): UsageError {
  return new UsageError(`No held listing ${JSON.stringify(heldId)} is waiting to be accepted.`)
}

function seenSince(heldId: number): UsageError {
  return new UsageError(
    `A later run has seen another answer of held listing ${heldId} since: look at it again.`,
  )
}
