import type { QueryResult } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rolledBack } from '../../src/core/database/pool.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { questions } from './questions.ts'
import type { Question } from './questions.ts'

let live: Live
beforeAll(async () => {
  // The demo's world, at a fixed time.
  live = await openLive('none', {
    world: {
      seed: 7,
      organizations: 8,
      documentsPerOrganization: 12,
      annotationsPerDocument: 16,
      commentsPerAnnotation: 5,
      usersPerOrganization: 30,
      groupsPerOrganization: 3,
      now: new Date('2025-11-03T12:00:00Z'),
    },
  })
  await live.importCatalog()
  await live.run()
  randomChanges(live.world, { count: 60, seed: 7 })
  await live.run()
}, 300_000)
afterAll(() => live.close())

test('docs/QUESTIONS.md has the answers that its queries give (made again by: vitest -u)', async () => {
  const parts: string[] = []
  for (const question of questions) parts.push(await section(question))
  const page = `${[INTRODUCTION, ...parts].join('\n\n')}\n`
  await expect(page).toMatchFileSnapshot('../../docs/QUESTIONS.md')
})

test('each question has an answer', async () => {
  for (const { question, sql } of questions) {
    const { rows } = await askAsReader({ text: sql })
    expect(rows.length, question).toBeGreaterThan(0)
  }
})

const INTRODUCTION = `# Questions and answers

Thirty common questions, each with its query and the answer for the data of \`collab-sync demo\` after its second run. The last day of that data is fixed at 2025-11-03; on your own data, write \`current_date\` in its place. A test executes every query as the role \`collab_reader\`. Run the queries with \`collab-sync psql\` or any SQL program. [DICTIONARY.md](DICTIONARY.md) describes the views.

The tables contain what the service returned at each check. A value that appeared and disappeared between two checks is unknown, and so is the exact time of a change between them. _Limits of the answer_ says what this means for a question. If the last check of a scope failed or is older than \`FRESHNESS_PROMISE\`, \`is_stale\` is true in its rows. Other tests simulate weeks of random changes and failures, and compare each row of the views with the responses of the service and with the data of the service.`

async function section({ by, question, sql, unseen }: Question): Promise<string> {
  const { rows, fields } = await askAsReader({ text: sql, rowMode: 'array', types: AS_TEXT })
  const names = fields.map(({ name }) => name)
  const table = [
    `| ${names.join(' | ')} |`,
    `| ${names.map(() => '---').join(' | ')} |`,
    ...rows.map((row: (string | null)[]) => `| ${row.map(cell).join(' | ')} |`),
  ]
  return `## ${question}\n\nAsked by ${by}.\n\n\`\`\`sql\n${sql};\n\`\`\`\n\n${table.join('\n')}${unseen === undefined ? '' : `\n\nLimits of the answer: ${unseen}`}`
}

function askAsReader(query: object): Promise<QueryResult> {
  return rolledBack(live.database.pool, async (client) => {
    await client.query('set local role collab_reader')
    return client.query(query as never)
  })
}

/** Every value as PostgreSQL writes it. */
const AS_TEXT = { getTypeParser: () => (text: string | Buffer) => text.toString() }

function cell(value: string | null): string {
  return value === null ? '' : value.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
