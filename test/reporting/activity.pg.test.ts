import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

let live: Live
beforeAll(async () => {
  live = await openLive('none', {
    world: {
      seed: 7,
      organizations: 3,
      documentsPerOrganization: 4,
      annotationsPerDocument: 6,
      commentsPerAnnotation: 5,
      usersPerOrganization: 6,
    },
  })
  await live.importCatalog()
  for (let round = 0; round < 3; round += 1) {
    randomChanges(live.world, { count: 20, seed: round })
    await live.run()
  }
  // What no service is known to say, and what lies at the edges of days and weeks.
  await live.database.pool.query(`
    update collab_store.comments c set author_user_id = t.author, last_updated = t.at, first_updated = null,
      day = (t.at at time zone 'UTC')::date
    from (select ctid, row_number() over (order by annotation_key, comment_id) as no from collab_store.comments) n
    join (values
      (1, 'u', null), (2, 'u', null), (3, null, null),
      (4, null, timestamptz '2026-02-28 23:59:59.999Z'), (5, 'u', '2026-03-01 00:00Z'), (6, 'u', '2026-03-01 23:59:59.999Z'),
      (7, 'u', '2026-03-02 00:00Z'), (8, 'v', '2026-03-08 23:59Z'), (9, 'v', '2026-03-09 00:00Z'),
      (10, 'u', '0001-01-01 00:00Z'), (11, 'u', '9999-12-31 23:59:59.999Z')
    ) t (no, author, at) using (no)
    where c.ctid = n.ctid`)
})
afterAll(() => live.close())

const PLAIN_DAYS = `
  select organization_id, (written_at at time zone 'UTC')::date as day, count(*) as comments,
    count(distinct author_user_id) as authors, count(distinct (document_id, annotation_id)) as annotations
  from reporting.comments group by 1, 2`
const PLAIN_WEEKS = `
  select c.organization_id, date_trunc('week', c.written_at at time zone 'UTC')::date as week, c.author_user_id,
    u.name as author_name, count(*) as comments, count(distinct (c.document_id, c.annotation_id)) as annotations
  from reporting.comments c
  left join collab.users u on u.organization_id = c.organization_id and u.user_id = c.author_user_id
  group by 1, 2, 3, 4`

const NARROWINGS = [
  '',
  `where organization_id = (select min(organization_id) from collab.organizations)`,
  `where TIME >= '2026-03-01' and TIME < '2026-04-01'`,
  `where TIME = '2026-03-02'`,
  `where TIME is null`,
  `where TIME < '1900-01-01'`,
]

test.each(NARROWINGS)('activity by day is what plain counting finds %s', async (narrowing) => {
  await expectSame('comment_activity_daily', PLAIN_DAYS, narrowing.replaceAll('TIME', 'day'))
})

test.each(NARROWINGS)('activity by week is what plain counting finds %s', async (narrowing) => {
  await expectSame('author_activity', PLAIN_WEEKS, narrowing.replaceAll('TIME', 'week'))
})

test('each comment names the organization that its document belongs to', async () => {
  const { rows } = await live.database.pool.query(
    `select count(*)::int as comments,
      count(*) filter (where c.organization_key is distinct from d.organization_key)::int as wrong
    from collab_store.comments c
    join collab_store.annotations a using (annotation_key)
    join collab_store.documents d using (document_key)`,
  )
  expect(rows[0].comments).toBeGreaterThan(100)
  expect(rows[0].wrong).toBe(0)
})

test('a narrowing to an organization, to days and to weeks reads ranges of one index', async () => {
  for (const query of [
    `comment_activity_daily where organization_id = 'x'`,
    `comment_activity_daily where day >= '2026-03-01' and day < '2026-04-01'`,
    `author_activity where organization_id = 'x'`,
    `author_activity where week >= '2026-03-01' and week < '2026-04-01'`,
  ]) {
    const plan = await planWithoutWholeTables(`select * from reporting.${query}`)
    const scans = plan.filter((line) => / on comments c/.test(line))
    expect(scans.length, query).toBeGreaterThan(0)
    for (const scan of scans) expect(scan, query).toContain('comments_activity')
    if (/day|week/.test(query)) expect(plan.join('\n'), query).toMatch(/Index Cond: .*day >= /)
  }
})

/** As the planner has it once a table is too large to be read whole. */
async function planWithoutWholeTables(query: string): Promise<string[]> {
  const client = await live.database.pool.connect()
  try {
    await client.query(`begin; set local enable_seqscan = off; set local enable_bitmapscan = off`)
    const { rows } = await client.query(`explain ${query}`)
    return rows.map((row) => row['QUERY PLAN'] as string)
  } finally {
    await client.query('rollback')
    client.release()
  }
}

/** Have a test of their own. */
const MARKS = 'checked_at, is_stale, in_catalog, stale_annotations, comments_not_in_catalog'

async function expectSame(view: string, plain: string, narrowing: string): Promise<void> {
  const read = async (from: string) => {
    const { rows } = await live.database.pool.query(
      `select to_jsonb(x) - '{${MARKS}}'::text[] as row from ${from} x ${narrowing} order by 1`,
    )
    return rows.map(({ row }) => row as unknown)
  }
  const expected = await read(`(${plain})`)
  expect(expected.length > 0).toBe(true)
  expect(await read(`reporting.${view}`)).toEqual(expected)
}
