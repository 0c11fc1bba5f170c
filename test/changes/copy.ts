import { Readable } from 'node:stream'
import type { Database } from '../../src/core/database/pool.ts'
import { readChanges } from '../../src/features/export/changes.ts'
import type { StoredChange } from '../../src/features/export/changes.ts'
import {
  copyOf,
  readExportObjects,
  streamRows,
  withSnapshot,
} from '../../src/features/export/rows.ts'
import { ndjsonFormat } from '../../src/features/export/text.ts'
import { until } from '../helpers/until.ts'

/** The fields of a change that a copy needs. */
export type Line = Pick<StoredChange, 'object' | 'person'> & {
  readonly key: Record<string, unknown>
  readonly row: Record<string, unknown> | null
}

/** The columns by which rows are matched; users are matched by `person`, because an erasure removes the ID. */
const KEY = /^(organization|document|annotation|organization_user_group|comment)_id$/

/** The tables of a reader who has only the feed, or only exports of changes. */
export class Copy {
  readonly rows = new Map<string, Record<string, unknown>>()

  apply({ object, key, person, row }: Line): string {
    const ids = Object.entries(key).filter(([name]) => KEY.test(name))
    const name = JSON.stringify([object, ids.toSorted(), person])
    if (row === null) this.rows.delete(name)
    else this.rows.set(name, row)
    return name
  }

  /** Loads an export in NDJSON. @throws Error if a row occurs twice, as a MERGE does */
  load(object: string, lines: readonly string[]): void {
    const names = lines.map((line) => {
      const { is_gone: isGone, ...key } = JSON.parse(line) as Record<string, unknown>
      const { person = null, ...row } = key
      if (object === 'user') row['person'] = person
      if (isGone && row['user_id'] != null) throw new Error('A removed row has a user ID.')
      return this.apply({ object, key, person: person as string | null, row: isGone ? null : row })
    })
    if (new Set(names).size < names.length) throw new Error('A row occurs twice.')
  }

  /** Every row as text, in order. */
  texts(): string[] {
    return [...this.rows.entries()]
      .map(([name, row]) => textOf(JSON.parse(name)[0], row))
      .toSorted()
  }
}

/** Loads the rows of all objects that changed after a cursor. @returns the cursor of the next call */
export async function loadExports(
  copy: Copy,
  database: Database,
  after: string | null,
): Promise<string> {
  const objects = (await readExportObjects(database)).flatMap((each) => copyOf(each) ?? [])
  let cursor = after
  return until('all that is committed is exported', async () => {
    cursor = await withSnapshot(database, async (snapshot) => {
      for (const object of objects) {
        const where = { organizationId: null, since: null, after: cursor }
        const rows = await Readable.from(streamRows(snapshot, object, where)).toArray()
        copy.load(object.changed ?? '', rows.map(ndjsonFormat(object.columns).row))
      }
      return snapshot.cursor
    })
    return (await isWhole(database, cursor)) && cursor
  })
}

export function lineOf(change: StoredChange): Line {
  const { key, row } = change
  return {
    ...change,
    key: JSON.parse(key),
    row: JSON.parse(row ?? 'null'),
  }
}

/**
 * Reads to the end of the feed, until it has given all that is committed. A transaction of another test that ends while the
 * horizon is read counts as one of this database, so that a look may end early.
 */
export async function readAll(
  database: Database,
  after: string | null,
  max = 100,
): Promise<{ changes: StoredChange[]; cursor: string }> {
  const changes: StoredChange[] = []
  let from = after
  return until('the feed has given all that is committed', async () => {
    for (;;) {
      const page = await readChanges(database, { after: from, max, objects: null })
      changes.push(...page.changes)
      from = page.cursor
      if (!page.hasMore) break
    }
    return (await isWhole(database, from)) && { changes, cursor: from }
  })
}

/** Whether nothing is committed behind a cursor; what a dump brought may have transactions that are yet to come. */
async function isWhole(database: Database, cursor: string): Promise<boolean> {
  const text = `select from collab_store.changes
    where xid >= $1::text::xid8 and xid < pg_snapshot_xmax(pg_current_snapshot()) limit 1`
  const { rowCount } = await database.query(text, [cursor.split('-')[2]])
  return rowCount === 0
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

/** Whether they are in the catalog is decided by a row that has a line of its own; disputed removals change no row. */
const MARKED_ELSEWHERE = new Set(['comment', 'user', 'document_user', 'user_group_member'])

function textOf(object: string, row: Record<string, unknown>): string {
  const { checked_at: _checked, is_stale: _stale, ...rest } = row
  if (MARKED_ELSEWHERE.has(object))
    for (const mark of ['in_catalog', 'removal_held_since', 'removal_refused_at']) delete rest[mark]
  const asTimes = Object.entries(rest).map(([name, value]) => [
    name,
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT.*(Z|\+00:00)$/.test(value)
      ? Date.parse(value)
      : value,
  ])
  return JSON.stringify([object, asTimes.toSorted()])
}
