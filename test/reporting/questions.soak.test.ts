import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { PoolClient, QueryArrayResult } from 'pg'
import { expect, test } from 'vitest'
import { rolledBack } from '../../src/core/database/pool.ts'
import { DEMO_CHANGES, DEMO_WORLD } from '../../src/demo/demo-world.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { openLoaded } from '../helpers/live.ts'

/** The day that both pages name. */
const DAY = '2025-11-03'
// The demo's world, at a fixed time.
const live = await openLoaded('none', {
  world: { ...DEMO_WORLD, now: new Date(`${DAY}T12:00:00Z`) },
})
await live.run()
randomChanges(live.world, DEMO_CHANGES)
await live.run()

const pathOf = (page: string) => resolve(import.meta.dirname, '../../docs', page)
const STATEMENTS_WITH_ANSWER = /(```sql\n([^]*?)\n```\n\n)(?:\|.*\n)*/g

test.each([
  ['QUESTIONS.md', 37, 2],
  ['MORE_FIELDS.md', 9, 4],
])(
  'each query of docs/%s has the first rows of its answer below it (updated by: vitest -u)',
  async (page, blocks, rows) => {
    let text = await readFile(pathOf(page), 'utf8')
    expect(text).toContain(`in \`collab-sync demo\` on ${DAY}.`)
    const found = [...text.matchAll(STATEMENTS_WITH_ANSWER)]
    expect(found).toHaveLength(blocks)
    await asReader(async (client) => {
      for (const [whole, before = '', sql = ''] of found) {
        const answer = await firstRows(client, sql, rows)
        text = text.replace(whole, () => `${before}${answer}`)
      }
    })
    await expect(text).toMatchFileSnapshot(pathOf(page))
  },
)

test('the index of docs/QUESTIONS.md links each question once, in their order', async () => {
  const text = await readFile(pathOf('QUESTIONS.md'), 'utf8')
  const linked = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor)
  const questions = [...text.matchAll(/^### (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
  expect(linked).toEqual(questions)
})

test('the index of docs/MORE_FIELDS.md finds comments, and one on raw is not possible', async () => {
  const text = await readFile(pathOf('MORE_FIELDS.md'), 'utf8')
  const blocks = [...text.matchAll(STATEMENTS_WITH_ANSWER)].map(([, , sql = '']) => sql)
  const creation = blocks.find((sql) => sql.includes('create index')) ?? ''
  const search = blocks.find((sql) => sql.includes('@> \'{"mentions"')) ?? ''
  await asReader(async (client) => {
    await client.query(creation)
    await client.query('set local enable_seqscan = off')
    const { rows } = await client.query({ text: `explain ${search}`, rowMode: 'array' })
    expect(rows.join('\n')).toContain('comment_fields_index')
    await expect(client.query('create index on collab.comments (raw)')).rejects.toThrow()
  })
})

/** Runs statements as `collab_reader`, which owns the schema `analytics`, and undoes them. */
function asReader(work: (client: PoolClient) => Promise<void>): Promise<void> {
  return rolledBack(live.database.pool, async (client) => {
    await client.query('create schema analytics authorization collab_reader')
    await client.query('set local role collab_reader')
    await work(client)
  })
}

/** As a table; empty for statements without rows, such as CREATE. */
async function firstRows(client: PoolClient, sql: string, most: number): Promise<string> {
  const results: QueryArrayResult | QueryArrayResult[] = await client.query({
    text: sql,
    rowMode: 'array',
    types: AS_TEXT,
  })
  const { rows, fields } = [results].flat().at(-1) as QueryArrayResult
  if (!sql.startsWith('select') && !sql.startsWith('with')) return ''
  expect(rows.length, sql).toBeGreaterThan(0)
  const lines = [
    fields.map(({ name }) => name),
    fields.map(() => '---'),
    ...rows.slice(0, most).map((row) => row.map(cell)),
  ]
  return lines.map((line) => `| ${line.join(' | ')} |\n`).join('')
}

/** Every value as PostgreSQL writes it. */
const AS_TEXT = { getTypeParser: () => (text: string | Buffer) => text.toString() }

function cell(value: string | null): string {
  return value === null ? '' : value.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
