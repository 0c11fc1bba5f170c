import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { grantRole, revokeRole } from '../../src/database/grants.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/pool.ts'
import type { Database } from '../../src/database/pool.ts'
import { onServer } from '../helpers/database.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { foreignPairs } from './foreign-values.ts'
import type { Pair } from './foreign-values.ts'

/** More pairs, over a larger database that is there already: FOREIGN_PAIRS=1000 FOREIGN_DATABASE_URL=postgres://... */
const PAIRS = Number(process.env['FOREIGN_PAIRS'] ?? 150)
const GIVEN = process.env['FOREIGN_DATABASE_URL']
const SEED = Number(process.env['FOREIGN_SEED'] ?? 1)

/** Plans of the sort that nobody asks for, by the switches of the planner: when one was stopped goes by the clock. */
const LIMIT = `set local statement_timeout = '2s'`
const TOO_SLOW = 'too slow'

const suffix = randomBytes(5).toString('hex')
const roles = { one: `cs_foreign_${suffix}`, all: `cs_foreign_all_${suffix}` }

let live: Live | undefined
let database: Database
let url: string
let own: string

beforeAll(async () => {
  if (GIVEN === undefined) {
    live = await openLive('none', { world: { seed: 11, organizations: 6 } })
    await live.importCatalog()
    expect((await live.run())['status']).toBe('succeeded')
    database = live.database.pool
    url = live.database.url
    await database.query('vacuum analyze')
  } else {
    url = GIVEN
    database = openDatabase(url, { max: 2 })
  }
  const { rows } = await database.query<{ id: string }>(
    'select organization_id as id from collab.comments group by 1 order by count(*) desc, 1 limit 20',
  )
  own = rows[Math.floor(rows.length / 2)]?.id ?? ''
  for (const role of Object.values(roles)) await database.query(`create role ${role}`)
  await grantRole(database, roles.all, null)
  await grantRole(database, roles.one, own)
})

afterAll(async () => {
  for (const role of Object.values(roles)) await revokeRole(database, role, null)
  if (GIVEN !== undefined) await database.end()
  await live?.close()
  await onServer(async (server) => {
    for (const role of Object.values(roles)) await server.query(`drop role ${role}`)
  })
})

test(`whatever a role of one organization asks, a value of another one looks like an invented one (${PAIRS} pairs, seed ${SEED})`, async () => {
  const [owner, asking] = [new pg.Client(url), new pg.Client(url)]
  await Promise.all([owner.connect(), asking.connect()])
  try {
    const pairs = await foreignPairs(owner, own, roles, mulberry(SEED))
    const different: string[] = []
    const looked = new Map<string, number>()
    const errors = new Map<string, number>()
    for (let done = 0; done < PAIRS;) {
      const pair = await pairs.next()
      if (pair === null) continue
      const difference = await differenceOf(asking, pair, errors)
      if (difference === TOO_SLOW) continue
      done += 1
      const view = pair.what.replace(/\.[^.]*$/, '')
      looked.set(view, (looked.get(view) ?? 0) + 1)
      if (difference !== null) different.push(difference)
    }
    console.log(
      `${PAIRS} pairs, seed ${SEED}: ${different.length} differ; ${[...looked].map((each) => each.join(' ')).join(', ')}; refused or failed alike: ${[...errors].map(([text, times]) => `${times} ${text}`).join(', ') || 'none'}`,
    )
    expect(different.slice(0, 5).join('\n\n'), `${different.length} differ`).toBe('')
  } finally {
    await Promise.all([owner.end(), asking.end()])
  }
}, 3_600_000)

test('whoever sees everything has the plans without a guard, also of what an upgrade replaced', async () => {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ view: string }>(
      `select c.oid::regclass::text as view from pg_class c
      where c.relnamespace in ('collab'::regnamespace, 'reporting'::regnamespace) and c.relkind = 'v'`,
    )
    const planOf = async (role: string, view: string) => {
      await client.query(`set role ${role}`)
      const plan = await client.query(`explain (verbose) select * from ${view}`)
      await client.query('reset role')
      return JSON.stringify(plan.rows)
    }
    for (const { view } of rows) {
      expect(await planOf(roles.all, view), view).not.toContain('num_nonnulls')
      expect(await planOf(roles.one, view), view).toContain('num_nonnulls')
    }
    if (GIVEN !== undefined) return
    await client.query(
      'create or replace view collab.user_group_members as ' +
        'select o.organization_id, g.organization_user_group_id, m.user_id, m.first_seen_at, m.removed_at, ' +
        'g.failing_since as checked_at, g.active as is_stale, o.active as in_catalog ' +
        'from collab_store.user_group_members m join collab_store.user_groups g using (user_group_key) ' +
        'join collab_store.organizations o using (organization_key)',
    )
    expect(await planOf(roles.one, 'collab.user_group_members')).not.toContain('num_nonnulls')
    await migrate(url)
    expect(await planOf(roles.one, 'collab.user_group_members')).toContain('num_nonnulls')
  } finally {
    await client.end()
  }
})

test('a condition on the organization is checked once authors are joined, so that no estimate has them looked up one by one', async () => {
  const views = ['comments', 'comments_with_deleted', 'comment_history', 'edits_and_deletions']
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(`set role ${roles.one}`)
    for (const view of views) {
      const plan = await client.query(
        `explain select count(*) from reporting.${view} where organization_id = '${own}'`,
      )
      expect(JSON.stringify(plan.rows), view).toMatch(
        /num_nonnulls\(o(_\d+)?\.organization_id, COALESCE\(u(_\d+)?\.name, /,
      )
    }
  } finally {
    await client.end()
  }
})

/**
 * What the role sees differ, or null. Caches settle on the first look, and a role or database that other tests make or drop
 * meanwhile has the planner read a block of a catalog again; a true difference is there on each look.
 */
async function differenceOf(
  client: pg.Client,
  pair: Pair,
  errors: Map<string, number>,
): Promise<string | null> {
  let difference = ''
  for (let look = 0; look < 20; look += 1) {
    const foreign = await seen(client, pair, pair.foreign)
    if (foreign.includes('statement timeout')) return TOO_SLOW
    const invented = await seen(client, pair, pair.invented)
    if (invented.includes('statement timeout')) return TOO_SLOW
    if (look === 0) {
      if (foreign.startsWith('error')) errors.set(foreign, (errors.get(foreign) ?? 0) + 1)
      continue
    }
    if (foreign === invented) return null
    difference = [pair.what, ...pair.setUp(pair.foreign), pair.statement(pair.foreign), pair.statement(pair.invented), firstDifference(foreign, invented)].join('\n') // prettier-ignore
  }
  return difference
}

/** Everything that a statement tells its role: the plan, its estimates, rows and blocks, and the counters of its reads. */
async function seen(client: pg.Client, pair: Pair, value: string): Promise<string> {
  await client.query(`begin; set local role ${roles.one}; ${LIMIT}`)
  try {
    for (const statement of pair.setUp(value)) await client.query(statement)
    const before = await counters(client)
    const { rows } = await client.query(
      `explain (analyze, buffers, verbose, timing off, summary off, format json) ${pair.statement(value)}`,
    )
    const after = await counters(client)
    const reads = after.map((row, at) => row.map((n, column) => n - (before[at]?.[column] ?? 0)))
    return `${JSON.stringify(rows[0]['QUERY PLAN'], comparable, 1)}\n${JSON.stringify(reads)}`
  } catch (error) {
    return `error ${(error as Error).message.replaceAll(value, '?')}`
  } finally {
    await client.query('rollback')
    await client.query('deallocate all')
  }
}

/** How many rows and index entries of each of our tables this session read so far, as it may see itself. */
async function counters(client: pg.Client): Promise<number[][]> {
  const { rows } = await client.query(
    `select array[seq_scan, seq_tup_read, idx_scan, idx_tup_fetch]::int[] as reads from pg_stat_xact_user_tables
    where schemaname in ('collab_store', 'sync') order by schemaname, relname`,
  )
  return rows.map(({ reads }) => reads)
}

/** Without the values themselves, and with blocks added up whether they were found in memory or not. */
function comparable(name: string, value: unknown): unknown {
  if (/ (Dirtied|Written) Blocks$/.test(name)) return undefined
  if (typeof value === 'string') {
    const withoutSigns = value.replace(/'(-\d+)'::integer/g, '$1')
    return withoutSigns
      .replace(/'(?:[^']|'')*'/g, '?')
      .replace(/(?<![\w$])-?\d+(\.\d+)?(?!\w)/g, 'n')
  }
  if (typeof value === 'object' && value !== null && 'Shared Hit Blocks' in value) {
    const { 'Shared Hit Blocks': hit, 'Shared Read Blocks': read, ...rest } = value as Record<string, number> // prettier-ignore
    return { ...rest, 'Shared Blocks': (hit ?? 0) + (read ?? 0) }
  }
  return value
}

function firstDifference(one: string, other: string): string {
  const [a, b] = [one.split('\n'), other.split('\n')]
  const at = a.findIndex((line, number) => line !== b[number])
  return `line ${at}: ${a[at]?.trim()} | ${b[at]?.trim()}, within ${a.slice(Math.max(0, at - 20), at + 20).join('')}`
}

/** Numbers from 0 to 1 that a seed gives again. */
function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
