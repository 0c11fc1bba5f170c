import { UsageError } from '../errors.ts'
import { transaction } from './pool.ts'
import type { Database } from './pool.ts'
import type { On } from './statement.ts'
import * as rejected from './statements/rejected.ts'

/** Rejected records, by their ids or all of a run. */
export type RejectedChoice = { readonly ids: readonly number[] } | { readonly runId: string }

/** A record is shown up to here. */
export const RECORD_CHARACTERS = 2000

/** Of some contents, by their digests, those that are set aside; in hex. */
export async function readSetAside(
  on: On,
  digests: readonly (Buffer | null)[],
): Promise<Set<string>> {
  if (digests.length === 0) return new Set()
  const rows = await rejected.readSetAside.all(on, { digests })
  return new Set(rows.map(({ digest }) => digest.toString('hex')))
}

/**
 * Sets rejected records aside for good: the same content in the same scope makes no later run partial. Or takes that back.
 * @param as who does it and why; null to take it back
 * @returns how many contents that changed
 * @throws UsageError where a record is not there, or was rejected by a version that made no digests
 */
export async function settleRejected(
  database: Database,
  choice: RejectedChoice,
  as: { by: string; reason: string } | null,
): Promise<number> {
  const ids = 'ids' in choice ? [...new Set(choice.ids)] : null
  const meant = { rejectedIds: ids, runId: 'runId' in choice ? choice.runId : null }
  return transaction(database, async (client) => {
    const { found, changed } = await (as === null
      ? rejected.restore.one(client, meant)
      : rejected.setAside.one(client, { ...meant, ...as }))
    if (found > 0 && found >= (ids ?? []).length) return changed
    throw new UsageError(
      ids === null
        ? 'That run rejected nothing that is open or set aside.'
        : `Of ${ids.length} ids ${found} are of rejected records that are open or set aside: nothing was done. See: collab-sync rejected.`,
    )
  })
}
