import { codeOf, isDataFault } from '../../database/connection-errors.ts'
import { savepoint } from '../../database/pool.ts'
import type { Client } from '../../database/pool.ts'
import * as members from '../../database/statements/observed.ts'
import type { Log } from '../../../base/log.ts'
import type { ObservedMember, ObservedMembers } from '../record/observed-members.ts'

/**
 * Makes a commit that writes the members of records with it, where that is due.
 * @param isEnd whether it is the last one of a batch
 * @param commit gets the function that writes them, to be called last: what it locks is wanted by the commits of all processes
 */
export async function notingMembers<T>(
  { observed, log }: { readonly observed: ObservedMembers; readonly log: Log },
  isEnd: boolean,
  commit: (note: (client: Client) => Promise<void>) => Promise<T>,
): Promise<T> {
  if (!observed.isDue(isEnd)) return commit(async () => {})
  observed.isBeingWritten = true
  let written = () => {}
  try {
    const result = await commit(async (client) => {
      written = await noteMembers(client, observed, log)
    })
    written()
    return result
  } finally {
    observed.isBeingWritten = false
  }
}

/** Fails no commit for what the members are like. @returns to be called when it is committed */
async function noteMembers(
  client: Client,
  observed: ObservedMembers,
  log: Log,
): Promise<() => void> {
  let written = () => {}
  const failure = await savepoint(client, async () => {
    if (!(await members.lock.one(client)).isLocked) return
    const rows = (await members.read.all(client)) as ObservedMember[]
    const { crowded, records, ...pending } = observed.pending(rows)
    if (crowded.length > 0) await members.collapse.run(client, { crowded: JSON.stringify(crowded) })
    await members.count.run(client, {
      comments: records.comment,
      users: records.user,
      members: JSON.stringify(pending.members),
    })
    written = pending.written
  })
  if (failure === null) return written
  if (!isDataFault(failure.error)) throw failure.error
  // Its code, and not the error, which may quote names of members: they may be IDs.
  log.warn({ sqlState: codeOf(failure.error) }, 'the members of records could not be noted')
  return written
}
