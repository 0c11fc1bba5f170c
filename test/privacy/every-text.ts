import { expect } from 'vitest'
import type { Place } from '../../src/demo/layout.ts'
import type { World } from '../../src/demo/world.ts'
import type { TestDatabase } from '../helpers/database.ts'

/** Every row of every table as text, by table, with those of the queue and the planner's samples of values. */
export async function textsOf(database: TestDatabase): Promise<Map<string, string>> {
  const { rows: tables } = await database.pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema') and schemaname not like 'pg\\_temp%' order by 1`,
  )
  const texts = new Map<string, string>()
  for (const { name } of tables) {
    const { rows } = await database.pool.query(`select t::text as row from ${name} t`)
    texts.set(name, rows.map(({ row }) => row).join('\n'))
  }
  const { rows } = await database.pool.query(
    `select s::text as row from pg_stats s where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  texts.set('pg_stats', rows.map(({ row }) => row).join('\n'))
  return texts
}

/** Expects that no table contains one of these texts, in any letter case, plain or percent-encoded. */
export async function expectNoTrace(
  database: TestDatabase,
  traces: readonly string[],
): Promise<void> {
  for (const [table, text] of await textsOf(database)) {
    const decoded = text.replaceAll(/%([0-7][0-9a-f])/gi, (_all, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
    const all = `${text}\n${decoded}`.toLowerCase()
    for (const trace of traces) {
      const at = all.indexOf(trace.toLowerCase())
      expect(at < 0 ? null : `${table}: ${all.slice(Math.max(0, at - 80), at + 80)}`).toBe(null)
    }
  }
}

/** Changes a served comment, also with fields that the service does not document. */
export function amend(
  world: World,
  place: Place,
  commentId: number,
  members: Record<string, unknown>,
): void {
  const { live: served, deleted } = world.thread(place) ?? { live: [], deleted: [] }
  world.putThread(place, {
    live: served.map((each) => (each.commentId === commentId ? { ...each, ...members } : each)),
    deleted,
  })
}
