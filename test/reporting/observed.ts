import * as observed from '../../src/database/statements/observed.ts'
import type { Database } from '../../src/database/pool.ts'

export interface Member {
  types: string[]
  records: number
}

/** Looks to the end of what changed. */
export async function observe(database: Database): Promise<void> {
  for (;;) {
    const { hasMore } = await observed.observe.one(database, { maxChanges: 1000 })
    if (!hasMore) return
  }
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
