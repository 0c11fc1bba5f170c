import { transaction } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { createLog } from '../../src/base/log.ts'
import { ObservedMembers } from '../../src/features/observe/observed-members.ts'

export interface Member {
  types: string[]
  records: number
}

/** The observed fields of a new process. */
export function newProcess(): ObservedMembers {
  return new ObservedMembers(createLog('silent'))
}

/** Reads records in a process, by default a new one, and commits their fields. */
export async function read(
  database: Database,
  records: readonly unknown[],
  observed = newProcess(),
): Promise<void> {
  for (const record of records) observed.see('comment', record)
  await observed.withCommit(true, (write) => transaction(database, write))
}

export async function membersOf(database: Database, object = 'comment') {
  const { rows } = await database.query<Member & { member: string; is_absent: boolean }>(
    'select member, types, records::int, is_absent from reporting.observed_members where object = $1 order by member',
    [object],
  )
  return new Map(rows.map(({ member, ...row }) => [member, row]))
}

/** The changes that were noticed since the last call. */
export async function noticed(database: Database): Promise<string[]> {
  const { rows } = await database.query(
    `update sync.member_changes set notified_at = now() where notified_at is null
    returning concat_ws(' ', object, change, collab_store.member_of(path), array_to_string(types, ',')) as text`,
  )
  return rows.map(({ text }) => text).toSorted()
}
