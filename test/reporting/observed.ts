import { transaction } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { createLog } from '../../src/base/log.ts'
import { notingMembers } from '../../src/core/sync/commit/note-members.ts'
import { ObservedMembers } from '../../src/core/sync/record/observed-members.ts'
import type { ObservedObject } from '../../src/core/sync/record/observed-members.ts'

export interface Member {
  types: string[]
  records: number
}

/** Has a process that has read nothing before read some records, and commit what they have. */
export async function read(
  database: Database,
  records: readonly unknown[],
  object: ObservedObject = 'comment',
  observed = new ObservedMembers(),
): Promise<void> {
  for (const record of records) observed.see(object, record)
  const noting = { observed, log: createLog('silent') }
  await notingMembers(noting, true, (note) => transaction(database, note))
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
    `update sync.member_changes set told_at = now() where told_at is null
    returning concat_ws(' ', object, change, collab_store.member_of(path), array_to_string(types, ',')) as text`,
  )
  return rows.map(({ text }) => text).toSorted()
}
