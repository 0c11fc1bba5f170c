import pg from 'pg'
import { expect, test } from 'vitest'
import { places } from '../../src/demo/catalog.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { installPacked } from '../helpers/installed.ts'
import { openLoaded } from '../helpers/live.ts'
import { readViews } from './view-types.ts'

const installed = await installPacked()

/** @returns what tsc says of a program that has the package installed; empty where all is well */
const compiled = (text: string): Promise<string> => installed.compile({ main: text })

test('rows of each view, from pg and as JSON, fit the types that the package exports', async () => {
  const live = await openLoaded('none')
  for (let round = 0; round < 3; round++) {
    if (round > 0) randomChanges(live.world, { count: 60, seed: round })
    await live.run()
  }
  const [place] = places(live.world)
  const match = { operation: 'comments' as const, ...place }
  live.standIn.setFaults([{ kind: 'bad-request', match }])
  await live.run()
  const client = new pg.Client(live.database.url)
  await client.connect()
  await client.query('update collab_store.definitions set refresh_budget = 1')
  await client.query('insert into sync.nightly_due values (now())')
  const parts = [`import type { JsonValues, Views } from 'collab-sync/views'`]
  const empty: string[] = []
  for (const { schema, name } of await readViews(live.database.pool)) {
    const view = `${schema}.${name}`
    const { rows } = await client.query(`select * from ${view} limit 5000`)
    const asJson = await client.query(`select to_jsonb(v) as row from ${view} v limit 5000`)
    if (rows.length === 0) empty.push(view)
    const texts = asJson.rows.map(({ row }) => row)
    parts.push(
      `export const ${schema}_${name}: Views['${view}'][] = [${different(rows)}]`,
      `export const ${schema}_${name}_json: Views<JsonValues>['${view}'][] = [${different(texts)}]`,
    )
  }
  await client.end()
  expect(empty).toEqual([])
  expect(await compiled(parts.join('\n'))).toBe('')
})

/** As literals, one of those whose values have the same types. */
function different(rows: readonly Record<string, unknown>[]): string {
  const literals = rows.map((row) =>
    Object.entries(row).map(([name, value]) => `${name}: ${literal(value)}`),
  )
  return [...new Set(literals.map((members) => `{ ${members.join(', ')} }`))].join(',\n')
}

function literal(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof Date) return 'new Date(0)'
  if (Array.isArray(value)) return `[${[...new Set(value.map(literal))].join(', ')}]`
  return { string: `''`, number: '0', boolean: 'true', object: '{}' }[typeof value as string] ?? '?'
}

test('a program that uses a column that is not there, or as what it is not, does not compile', async () => {
  expect(
    await compiled(`
      import type { CollabComments, JsonValues, Views } from 'collab-sync/views'
      declare module 'collab-sync/views' {
        interface CollabComments<V> { severity: number | null }
      }
      declare const row: CollabComments
      const id: string = row.comment_id
      const asJson: number = (row as unknown as CollabComments<JsonValues>).comment_id
      const own: number | null = row.severity
      // @ts-expect-error It may be null.
      const at: Date = row.deleted_at
      // @ts-expect-error There is none.
      const none = row.commentId
      // @ts-expect-error There is no such view.
      type None = Views['collab.comment']
      export { asJson, at, id, none, own, type None }`),
  ).toBe('')
})
