import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { figure, short } from '../bench.ts'
import type { Comparison, Figure, Table } from '../bench.ts'
import { createBenchDatabase } from '../database.ts'
import { indexCosts } from './index-costs.ts'
import { planOf } from './plan.ts'
import { reportQueries } from './queries.ts'
import type { ReportQuery } from './queries.ts'

export const SIZE: Size = { organizations: 2000, annotations: 1_000_000, comments: 5_000_000 }
const TIMES = 3
const HERE = join(process.cwd(), 'test/bench/reports')
const PLANS = join(process.cwd(), 'docs/PLANS.md')

/** How much is generated. */
export interface Size {
  readonly organizations: number
  readonly annotations: number
  readonly comments: number
}

export const reports: Comparison = {
  name: 'reports',
  title: 'Reports over 5,000,000 comments',
  explains:
    'Each view of `reporting` narrowed to an organization, to a month, and whole, over generated rows of three years; and what each index that serves them costs a first load. BENCH_REPORTS_URL names a database that has the rows already.',
  async run(servers) {
    const given = process.env['BENCH_REPORTS_URL']
    if (given !== undefined) return measure(given)
    const database = await createBenchDatabase(servers, null)
    try {
      await generate(database.url, SIZE)
      return await measure(database.url)
    } finally {
      await database.drop()
    }
  },
}

/** Fills an empty database with rows as years of syncs would have left them. */
export async function generate(url: string, size: Size): Promise<void> {
  const text = readFileSync(join(HERE, 'generate.sql'), 'utf8')
  const filled = text.replace(/(?<!:):(organizations|annotations|comments)\b/g, (_all, name) =>
    String(size[name as keyof Size]),
  )
  await connected(url, async (client) => {
    await client.query('set statement_timeout = 0')
    await client.query(filled)
    await client.query('vacuum (analyze)')
  })
}

async function measure(url: string): Promise<{ tables: Table[]; figures: Figure[] }> {
  return connected(url, async (client) => {
    await client.query('set statement_timeout = 0')
    const measured = []
    for (const query of reportQueries) measured.push(await measureQuery(client, query))
    const indexes = await indexCosts(client)
    if (process.argv.includes('--accept')) writeFileSync(PLANS, page(measured, indexes))
    return {
      tables: [
        {
          title: 'Milliseconds, the median of three',
          head: ['query', 'ms', 'at most', ''],
          rows: measured.map(({ query, ms }) => {
            const median = middle(ms)
            return [
              query.name,
              short(median),
              query.limitMs,
              median > query.limitMs ? 'TOO SLOW' : '',
            ]
          }),
        },
        indexes,
      ],
      figures: measured.map(({ query, ms }) =>
        figure(`reports.${query.name}`, 'milliseconds', ms, { unit: 'ms', atMost: query.limitMs }),
      ),
    }
  })
}

interface Measured {
  readonly query: ReportQuery
  readonly ms: readonly number[]
  readonly plan: string
}

async function measureQuery(client: pg.Client, query: ReportQuery): Promise<Measured> {
  const ms: number[] = []
  for (let time = 0; time < TIMES; time += 1) {
    const began = performance.now()
    await client.query(query.sql)
    ms.push(performance.now() - began)
  }
  return { query, ms, plan: await planOf(client, query.sql) }
}

function page(measured: readonly Measured[], indexes: Table): string {
  const lines = measured.map(
    ({ query, ms, plan }) =>
      `| ${query.name} | ${short(middle(ms))} | ${query.limitMs} | ${plan.replaceAll('|', '\\|')} |`,
  )
  const costs = indexes.rows.map((row) => `| ${row.join(' | ')} |`)
  return `# How reports are answered

Made by \`npm run bench -- --accept reports\`: ${SIZE.comments.toLocaleString('en')} comments of ${SIZE.organizations.toLocaleString('en')} organizations, PostgreSQL with the settings it comes with; milliseconds, the median of ${TIMES}; ${availableParallelism()} cores, load average ${loadavg()[1]?.toFixed(1)} (other work on the machine makes these figures larger). How each table is read, from the plan, in its order.

| query | ms | at most | reads |
| --- | --- | --- | --- |
${lines.join('\n')}

## What the indexes cost

${indexes.title}

| ${indexes.head.join(' | ')} |
| ${indexes.head.map(() => '---').join(' | ')} |
${costs.join('\n')}
`
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number
}

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
