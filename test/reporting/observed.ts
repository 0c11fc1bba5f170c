import { transaction } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { createLog } from '../../src/base/log.ts'
import type { ObservedObject } from '../../src/core/sync/record/records.ts'
import { ObservedMembers } from '../../src/features/observe/observed-members.ts'

export interface Member {
  types: string[]
  records: number
}

/** What a process has that has read nothing before. */
export function newProcess(): ObservedMembers {
  return new ObservedMembers(createLog('silent'))
}

/** Has a process that has read nothing before read some records, and commit what they have. */
export async function read(
  database: Database,
  records: readonly unknown[],
  object: ObservedObject = 'comment',
  observed = newProcess(),
): Promise<void> {
  for (const record of records) observed.see(object, record)
  await observed.withCommit(true, (write) => transaction(database, write))
}

export async function membersOf(database: Database, object = 'comment') {
  const { rows } = await database.query<Member & { member: string; is_absent: boolean }>(
    'select member, types, records::int, is_absent from reporting.observed_members where object = $1 order by member',
    [object],
  )
  return new Map(rows.map(({ member, ...row }) => [member, row]))
}

/** What was noticed, and is not asked for again. */
export async function noticed(database: Database): Promise<string[]> {
  const { rows } = await database.query(
    `update sync.member_changes set notified_at = now() where notified_at is null
    returning concat_ws(' ', object, change, collab_store.member_of(path), array_to_string(types, ',')) as text`,
  )
  return rows.map(({ text }) => text).toSorted()
}
