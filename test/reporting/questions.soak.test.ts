import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { QueryArrayResult } from 'pg'
import { expect, test } from 'vitest'
import { rolledBack } from '../../src/core/database/pool.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { openLive } from '../helpers/live.ts'

/** The day that docs/QUESTIONS.md names. */
const DAY = '2025-11-03'
// The demo's world, at a fixed time.
const live = await openLive('none', {
  world: {
    seed: 7,
    organizations: 8,
    documentsPerOrganization: 12,
    annotationsPerDocument: 16,
    commentsPerAnnotation: 5,
    usersPerOrganization: 30,
    groupsPerOrganization: 3,
    now: new Date(`${DAY}T12:00:00Z`),
  },
})
await live.importCatalog()
await live.run()
randomChanges(live.world, { count: 60, seed: 7 })
await live.run()

const PAGE = resolve(import.meta.dirname, '../../docs/QUESTIONS.md')
const QUERY_WITH_ANSWER = /(```sql\n([^]*?);\n```\n\n)(?:\|.*\n)*/g

test('each query of docs/QUESTIONS.md has its answer below it (updated by: vitest -u)', async () => {
  let page = await readFile(PAGE, 'utf8')
  const queries = [...page.matchAll(QUERY_WITH_ANSWER)]
  expect(queries).toHaveLength(30)
  expect(page).toContain(`the world of \`collab-sync demo\` after its second run on ${DAY}.`)
  for (const [text, before = '', sql = ''] of queries)
    page = page.replace(text, `${before}${await answer(sql)}`.replaceAll('$', '$$$$'))
  await expect(page).toMatchFileSnapshot(PAGE)
})

async function answer(sql: string): Promise<string> {
  const { rows, fields }: QueryArrayResult = await rolledBack(
    live.database.pool,
    async (client) => {
      await client.query('set local role collab_reader')
      return client.query({ text: sql, rowMode: 'array', types: AS_TEXT })
    },
  )
  expect(rows.length, sql).toBeGreaterThan(0)
  const lines = [
    fields.map(({ name }) => name),
    fields.map(() => '---'),
    ...rows.map((row) => row.map(cell)),
  ]
  return lines.map((line) => `| ${line.join(' | ')} |\n`).join('')
}

/** Every value as PostgreSQL writes it. */
const AS_TEXT = { getTypeParser: () => (text: string | Buffer) => text.toString() }

function cell(value: string | null): string {
  return value === null ? '' : value.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
