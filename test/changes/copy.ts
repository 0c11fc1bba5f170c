import type { Database } from '../../src/database/pool.ts'
import { readChanges, readHeldBack } from '../../src/database/changes.ts'
import { until } from '../helpers/until.ts'
import type { StoredChange } from '../../src/database/changes.ts'

/** What is read of a change to keep a copy. */
export type Line = Pick<StoredChange, 'object' | 'change' | 'person'> & {
  readonly key: Record<string, unknown>
  readonly old_key?: Record<string, unknown> | null
  readonly row: Record<string, unknown> | null
}

/** The tables as somebody has them who reads the feed and nothing else. */
export class Copy {
  readonly rows = new Map<string, Record<string, unknown>>()

  apply({ object, key, old_key: oldKey, person, row }: Line): void {
    // People by their hash: the id is gone where somebody was erased.
    const nameOf = (ids: Record<string, unknown>) => {
      const rest = Object.entries(ids).filter(([name]) => name !== 'user_id')
      return JSON.stringify([object, rest.toSorted(), person ?? null])
    }
    if (oldKey) this.rows.delete(nameOf(oldKey))
    const name = nameOf(key)
    if (row === null) this.rows.delete(name)
    else this.rows.set(name, row)
  }

  /** Every row as text, in order. */
  texts(): string[] {
    return [...this.rows.entries()]
      .map(([name, row]) => textOf(JSON.parse(name)[0], row))
      .toSorted()
  }
}

export function lineOf(change: StoredChange): Line {
  const { key, oldKey, row } = change
  return {
    ...change,
    key: JSON.parse(key),
    old_key: JSON.parse(oldKey ?? 'null'),
    row: JSON.parse(row ?? 'null'),
  }
}

/** Reads to the end of the feed, once nothing that is committed is held back: other tests write on the server too. */
export async function readAll(
  database: Database,
  after: string | null,
  max = 100,
): Promise<{ changes: StoredChange[]; cursor: string | null }> {
  const changes: StoredChange[] = []
  let cursor = after
  await until('nothing that is committed is held back', async () => {
    const { lines } = await readHeldBack(database)
    for (let hasMore = true; hasMore;) {
      const page = await readChanges(database, { after: cursor, max, objects: null })
      changes.push(...page.changes)
      ;({ cursor, hasMore } = page)
    }
    return lines === 0
  })
  return { changes, cursor }
}

/** What the views show, as a copy has it. */
export async function tableTexts(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ object: string; row: Record<string, unknown> }>(`
    select 'organization' as object, to_jsonb(v) as row from collab.organizations v
    union all select 'document', to_jsonb(v) from collab.documents v
    union all select 'annotation', to_jsonb(v) from collab.annotations v
    union all select 'user_group', to_jsonb(v) from collab.user_groups v
    union all select 'user', to_jsonb(v) from collab.users v
    union all select 'document_user', to_jsonb(v) from collab.document_users v
    union all select 'user_group_member', to_jsonb(v) from collab.user_group_members v
    union all select 'comment', to_jsonb(v) from collab.comments v`)
  return rows.map(({ object, row }) => textOf(object, row)).toSorted()
}

/** The first rows that only the copy has, and that only the tables have: none of either where they are equal. */
export async function differences(
  copy: Copy,
  database: Database,
): Promise<{ onlyInCopy: string[]; onlyInTables: string[] }> {
  const [ours, theirs] = [new Set(copy.texts()), new Set(await tableTexts(database))]
  return {
    onlyInCopy: [...ours].filter((text) => !theirs.has(text)).slice(0, 3),
    onlyInTables: [...theirs].filter((text) => !ours.has(text)).slice(0, 3),
  }
}

export const NO_DIFFERENCES = { onlyInCopy: [], onlyInTables: [] }

/** Whether they are in the catalog is decided by a row that has a line of its own. */
const MARKED_ELSEWHERE = new Set(['comment', 'user', 'document_user', 'user_group_member'])

function textOf(object: string, row: Record<string, unknown>): string {
  const { checked_at: _checked, is_stale: _stale, ...rest } = row
  if (MARKED_ELSEWHERE.has(object)) delete rest['in_catalog']
  const asTimes = Object.entries(rest).map(([name, value]) => [
    name,
    typeof value === 'string' && name.endsWith('_at') ? Date.parse(value) : value,
  ])
  return JSON.stringify([object, asTimes.toSorted()])
}
