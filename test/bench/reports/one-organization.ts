import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { grantRole } from '../../../src/database/grants.ts'
import { openDatabase } from '../../../src/database/pool.ts'
import { figure, median, short } from '../bench.ts'
import type { Comparison, Result } from '../bench.ts'
import { createBenchDatabase } from '../database.ts'
import { reportQueries } from './queries.ts'
import { generate } from './reports.ts'
import type { Size } from './reports.ts'

/** Of 640 organizations the first one has a fiftieth of the comments: 100,000. */
const SIZE: Size = { organizations: 640, annotations: 1_000_000, comments: 5_000_000 }
const TIMES = 5
const LIMIT_MS = 300

export const oneOrganization: Comparison = {
  name: 'one-organization',
  title: 'Reports of a role of one organization with 100,000 of 5,000,000 comments',
  explains:
    'Each report as a role that was granted the largest organization alone asks it, `jit` off: with its organization named, narrowed to a month, and whole. The same as the owner asks it with that organization named, where the role names it too. BENCH_ONE_ORGANIZATION_URL names a database that has the rows already.',
  async run(servers) {
    const given = process.env['BENCH_ONE_ORGANIZATION_URL']
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

async function measure(url: string): Promise<Result> {
  const role = `cs_bench_${randomBytes(5).toString('hex')}`
  const database = openDatabase(url, { applicationName: 'bench' })
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(`create role ${role}`)
    await grantRole(database, role, 'org-1')
    await client.query('set statement_timeout = 0; set jit = off')
    const measured = []
    for (const query of reportQueries) {
      const sql = query.sql.replaceAll(`'org-200'`, `'org-1'`)
      await client.query(`set role ${role}`)
      const asRole = await timed(client, sql)
      await client.query('reset role')
      const asOwner = sql.includes(`'org-1'`) ? await timed(client, sql) : null
      measured.push({ name: query.name, asRole, asOwner })
    }
    return {
      tables: [
        {
          title: `Milliseconds, the median of ${TIMES} after one`,
          head: ['query', 'of the role', 'of the owner', ''],
          rows: measured.map(({ name, asRole, asOwner }) => [
            name,
            short(median(asRole)),
            asOwner === null ? '' : short(median(asOwner)),
            median(asRole) > LIMIT_MS ? 'TOO SLOW' : '',
          ]),
        },
      ],
      figures: measured.map(({ name, asRole }) =>
        figure(`one-organization.${name}`, 'milliseconds', asRole, {
          unit: 'ms',
          atMost: LIMIT_MS,
        }),
      ),
    }
  } finally {
    await client.query(`reset role; drop owned by ${role}; drop role ${role}`)
    await client.end()
    await database.end()
  }
}

async function timed(client: pg.Client, sql: string): Promise<number[]> {
  const ms: number[] = []
  await client.query(sql)
  for (let time = 0; time < TIMES; time += 1) {
    const began = performance.now()
    await client.query(sql)
    ms.push(performance.now() - began)
  }
  return ms
}
