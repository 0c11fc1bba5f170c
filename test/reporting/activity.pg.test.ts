import { expect, test } from 'vitest'
import { rolledBack } from '../../src/core/database/pool.ts'
import { openLoaded } from '../helpers/live.ts'

/** Activity by day and week for times that no world of test/worlds has, and the plans of these views. */

const live = await openLoaded('none', { world: { organizations: 2 } })
await live.run()
// Without an author or a time, at both ends of a day and of a week, and in the first and last year.
await live.database.pool.query(`
  update collab_store.comments c set author_user_id = t.author, last_updated = t.at, first_updated = null,
    day = (t.at at time zone 'UTC')::date
  from (select ctid, row_number() over (order by annotation_key, comment_id) as no from collab_store.comments) n
  join (values
    (1, 'u', null), (2, 'u', null), (3, null, null),
    (4, null, timestamptz '2026-02-28 23:59:59.999Z'), (5, 'u', '2026-03-01 00:00Z'), (6, 'u', '2026-03-01 23:59:59.999Z'),
    (7, 'u', '2026-03-02 00:00Z'), (8, 'v', '2026-03-08 23:59Z'), (9, 'v', '2026-03-09 00:00Z'),
    (10, 'u', '0001-01-01 00:00Z'), (11, 'u', '9999-12-31 23:59:59.999Z'),
    (12, 'u', '9999-12-31 23:59:59.999Z'), (13, 'u', '9999-12-31 23:59:59.999Z')
  ) t (no, author, at) using (no)
  where c.ctid = n.ctid`)

test.each([
  [
    'comment_activity_daily',
    `select organization_id, (written_at at time zone 'UTC')::date as day, count(*) as comments,
      count(distinct author_user_id) as authors, count(distinct (document_id, annotation_id)) as annotations
    from reporting.comments group by 1, 2`,
  ],
  [
    'author_activity',
    `select c.organization_id, date_trunc('week', c.written_at at time zone 'UTC')::date as week, c.author_user_id,
      u.name as author_name, count(*) as comments, count(distinct (c.document_id, c.annotation_id)) as annotations
    from reporting.comments c
    left join collab.users u on u.organization_id = c.organization_id and u.user_id = c.author_user_id
    group by 1, 2, 3, 4`,
  ],
])('%s counts each comment in its day or week', async (view, counted) => {
  const marks = `'{checked_at, is_stale, in_catalog, stale_annotations, comments_not_in_catalog}'::text[]`
  const read = async (from: string) =>
    live.rows(`select to_jsonb(x) - ${marks} as row from ${from} x order by 1`)
  const rows = await read(`reporting.${view}`)
  expect(rows).toEqual(await read(`(${counted})`))
  expect(rows.length).toBeGreaterThan(10)
})

test.each([
  `comment_activity_daily where organization_id = 'x'`,
  `comment_activity_daily where day >= '2026-03-01' and day < '2026-04-01'`,
  `author_activity where organization_id = 'x'`,
  `author_activity where week >= '2026-03-01' and week < '2026-04-01'`,
])('%s reads a range of an index', async (query) => {
  const plan = await rolledBack(live.database.pool, async (client) => {
    // The plan of a table that is too large to be read as a whole.
    await client.query('set local enable_seqscan = off; set local enable_bitmapscan = off')
    const { rows } = await client.query(`explain select * from reporting.${query}`)
    return rows.map((row) => row['QUERY PLAN'] as string)
  })
  const scans = plan.filter((line) => / on comments c/.test(line))
  expect(scans.length).toBeGreaterThan(0)
  for (const scan of scans) expect(scan).toContain('comments_activity')
  if (/day|week/.test(query)) expect(plan.join('\n')).toMatch(/Index Cond: .*day >= /)
})
