import { beforeEach, expect, test } from 'vitest'
import { prune } from '../../src/database/maintenance.ts'
import type { Database } from '../../src/database/pool.ts'
import * as observed from '../../src/database/statements/observed.ts'
import { eraseUser } from '../../src/erase/erase-user.ts'
import { createLog } from '../../src/log.ts'
import { observeMembers } from '../../src/sync/run/observe.ts'
import { fillComments } from '../export/fill-comments.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { membersOf, noticed, observe } from './observed.ts'

let database: TestDatabase
let pool: Database
beforeEach(async () => {
  database = await createTestDatabase()
  ;({ pool } = database)
  await fillComments(database, 2100)
  return () => database.drop()
})

/** Stores further members, of the comments between two ids. */
const put = (from: number, to: number, rest: string) =>
  pool.query(
    `update collab_store.comments set rest = ${rest}, version = version + 1, change = 'edited' where comment_id between $1 and $2`,
    [from, to],
  )

test('one that 1,000 changed records lack is absent, and seen again when it is back; a rare one is not missed', async () => {
  await put(1, 1000, `'{"data": {"often": 1}}'`)
  await put(1001, 1010, `'{"rare": 1}'`)
  await observe(pool)
  await put(1, 999, 'null')
  await observe(pool)
  expect(await noticed(pool)).toEqual([])
  await put(1, 2, 'null')
  await pool.query(`update collab_store.comments set status = 'other' where comment_id < 3`)
  await observe(pool)
  // What was in it is gone with it.
  expect(await noticed(pool)).toEqual(['comment absent data object'])
  expect((await membersOf(pool)).get('data.often')?.is_absent).toBe(true)
  expect((await membersOf(pool)).get('rare')?.is_absent).toBe(false)
  await put(7, 7, `'{"data": {"often": 1}}'`)
  await observe(pool)
  expect((await membersOf(pool)).get('data.often')?.is_absent).toBe(false)
  expect(await noticed(pool)).toEqual([])
})

test('an object with more than 50 different keys is one path, and none of its keys is kept', async () => {
  const likes = (from: number, to: number) =>
    put(
      from,
      to,
      `jsonb_build_object('likes', jsonb_build_object('person-' || comment_id, '{"at": 1}'::jsonb))`,
    )
  await observe(pool)
  await likes(1, 50)
  await observe(pool)
  expect((await membersOf(pool)).get('likes.person-7.at')).toMatchObject({ records: 1 })
  expect(await noticed(pool)).toEqual(['comment new likes object'])
  await likes(51, 60)
  await observe(pool)
  await likes(1, 2)
  await put(
    70,
    70,
    `(select jsonb_build_object('both', jsonb_object_agg('p' || n, n)) from generate_series(1, 51) n)`,
  )
  await observe(pool)
  const members = await membersOf(pool)
  expect([...members.keys()].filter((path) => /person|both\.p/.test(path))).toEqual([])
  expect(members.get('likes')).toMatchObject({ records: 62 })
  expect(members.get('likes.*')).toMatchObject({ types: ['object'], records: 13 })
  expect(members.get('likes.*.at')).toMatchObject({ types: ['number'], records: 12 })
  expect(members.get('both.*')).toMatchObject({ types: ['number'], records: 1 })
  expect(await noticed(pool)).toEqual(['comment new both object'])
  const { rows } = await pool.query(
    `select * from collab_store.observed_members o, sync.member_changes c where concat(o.path, c.path) ~ 'person'`,
  )
  expect(rows).toEqual([])
})

test('at most 2,000 paths are kept, the commonest first; what is nested without end, or of any length, ends', async () => {
  await observe(pool)
  await put(
    1,
    60,
    `(select jsonb_object_agg('a' || n, (select jsonb_object_agg('b' || m, (select jsonb_object_agg('c' || k, 1) from generate_series(1, 10) k)) from generate_series(1, 20) m)) from generate_series(1, 10) n)`,
  )
  await put(61, 61, `(repeat('{"x":', 400) || '1' || repeat('}', 400))::jsonb`)
  await put(63, 63, `jsonb_build_object('large', jsonb_build_object('z', repeat(md5('z'), 4000)))`)
  await put(62, 62, `jsonb_build_object(repeat('y', 5000), 1, '', 1, '*', 1)`)
  await observe(pool)
  const members = await membersOf(pool)
  expect(members.size).toBe(2000)
  expect(members.get('a10.b7')).toMatchObject({ records: 60 })
  expect(members.has('x')).toBe(false)
  await pool.query(`delete from collab_store.observed_members where path[1] like 'a%'`)
  await put(61, 63, 'rest || \'{"again": 1}\'')
  await observe(pool)
  const rest = await membersOf(pool)
  expect(rest.get('…')).toMatchObject({ types: ['number'] })
  expect(rest.get('""')).toMatchObject({ types: ['number'] })
  expect(rest.get('large')).toMatchObject({ types: ['object'] })
  expect(rest.has('large.z')).toBe(false)
  expect(rest.get('"*"')).toMatchObject({ types: ['number'] })
  expect(Math.max(...[...rest.keys()].map((path) => path.length))).toBeLessThan(700)
})

test('many paths in a page fail nothing: 60 comments of 85 kB with 3,500 keys of their own below 18 objects', async () => {
  await observe(pool)
  await put(
    1,
    60,
    `(repeat('{"' || repeat('n', 100) || '":', 18) || (select jsonb_object_agg('key-' || n || '-' || comment_id, 1)::text from generate_series(1, 3500) n) || repeat('}', 18))::jsonb`,
  )
  await observe(pool)
  const own = [...(await membersOf(pool))].filter(([path]) => path.startsWith('nnn'))
  expect(own).toHaveLength(19)
  expect(own[0]?.[1]).toMatchObject({ types: ['object'], records: 60 })
  const [path, deepest] = own.at(-1) ?? []
  expect(path).toMatch(/n\.\*$/)
  expect(deepest?.types).toEqual(['number'])
  expect(await noticed(pool)).toEqual([`comment new ${'n'.repeat(100)} object`])
})

test('a change that PostgreSQL cannot look through is passed over and told; all others are counted', async () => {
  await observe(pool)
  const before = (await membersOf(pool)).get('commentText')?.records ?? 0
  await put(1, 400, `'{"fine": 1}'`)
  await put(77, 77, `'{"poison": 1}'`)
  await pool.query(`create function refuse() returns trigger language plpgsql as
        $$ begin raise program_limit_exceeded using message = 'too large'; end $$;
      create trigger refuse before insert on collab_store.observed_members
      for each row when (new.path[1] = 'poison') execute function refuse()`)
  const run = await pool.query(
    `insert into sync.runs (status, trigger, scope, started_at) values ('running', 'cli', '{}', now()) returning run_id`,
  )
  const lines: string[] = []
  const log = createLog('warn', { write: (line) => void lines.push(line) })
  const drained = new AbortController().signal
  await observeMembers({ database: pool, drained, log }, run.rows[0].run_id)
  // 399 of the first statement and two lines of comment 77, both with what it is now.
  expect((await membersOf(pool)).get('fine')?.records).toBe(399)
  expect((await membersOf(pool)).get('commentText')?.records).toBe(before + 399)
  expect((await observed.observe.one(pool, { maxChanges: 1 })).hasMore).toBe(false)
  expect(lines.map((line) => JSON.parse(line).sqlState)).toEqual(['54000', '54000'])
})

test('it ends after a step where the worker stops, and begins none where the run is settled or to end', async () => {
  const log = createLog('silent')
  const looked = async () =>
    (await pool.query('select sum(records)::int as n from collab_store.observed_records')).rows[0].n
  const begin = async (set: string, stopping = new AbortController()) => {
    const { rows } = await pool.query(
      `insert into sync.runs (status, trigger, scope, started_at) values ('running', 'cli', '{}', now()) returning run_id`,
    )
    const runId = rows[0].run_id as string
    await pool.query(`update sync.runs set ${set} where run_id = $1`, [runId])
    return () => observeMembers({ database: pool, drained: stopping.signal, log }, runId)
  }
  await (
    await begin(`finished_at = now(), status = 'succeeded'`)
  )()
  await (
    await begin(`stopping = 'cancelled'`)
  )()
  expect(await looked()).toBe(0)
  // So many changes are of the catalog.
  await observed.observe.one(pool, { maxChanges: 1002 })
  expect(await looked()).toBe(0)
  const stopping = new AbortController()
  const look = await begin('problem = null', stopping)
  const looking = look()
  stopping.abort()
  await looking
  expect(await looked()).toBe(250)
  await look()
  expect(await looked()).toBe(250)
  await (
    await begin('problem = null')
  )()
  expect(await looked()).toBe(2100)
})

test('what comes up among the first 500 records is no news, and what few had is never absent', async () => {
  await pool.query('delete from collab_store.comments where comment_id between 401 and 2000')
  await pool.query('delete from collab_store.comments where comment_id > 2001')
  const ends = `update collab_store.observed_records set cursor = reporting.changes_cursor(), records = 0, is_known = false`
  await pool.query(ends)
  await pool.query(`update collab_store.comments set status = 'one' where comment_id = 2001`)
  await observe(pool)
  expect((await membersOf(pool)).get('commentText')?.records).toBe(1)
  const change = async (times: number, comments: number) => {
    for (let time = 0; time < times; time += 1)
      await pool.query(
        `update collab_store.comments set status = status || 'x' where comment_id <= $1`,
        [comments],
      )
    await observe(pool)
  }
  await put(1, 20, `jsonb_build_object('rare' || comment_id, 1)`)
  await observe(pool)
  await change(1, 191)
  expect((await membersOf(pool)).get('rare7')).toMatchObject({ records: 2 })
  expect(await noticed(pool)).toEqual([])
  await put(1, 20, 'null')
  // Twenty had it, and these were less than one in 50.
  const seldom = async (from: number) => {
    await put(from, from + 9, `'{"seldom": 1}'`)
    await observe(pool)
    await put(from, from + 9, 'null')
  }
  await seldom(21)
  expect(await noticed(pool)).toEqual([])
  await change(5, 400)
  await seldom(31)
  await change(3, 400)
  const members = await membersOf(pool)
  expect(members.get('rare7')).toMatchObject({ is_absent: false })
  expect(members.get('seldom')).toMatchObject({ records: 20, is_absent: false })
  expect(await noticed(pool)).toEqual([])
  await put(1, 1, `'{"late": 1}'`)
  await observe(pool)
  expect(await noticed(pool)).toEqual(['comment new late number'])
})

test('each change is counted once, whoever looks, and what is gone is not looked at', async () => {
  await pool.query(`delete from collab_store.comments where comment_id = 5`)
  await Promise.all([observe(pool), observe(pool), observe(pool)])
  expect((await membersOf(pool)).get('commentText')?.records).toBe(2099)
  await pool.query(
    `update collab_store.comments set deleted_at = now(), version = 2, change = 'deleted' where comment_id = 6`,
  )
  for (const text of ['once', 'twice'])
    await pool.query('update collab_store.comments set comment_text = $1 where comment_id = 7', [
      text,
    ])
  await observe(pool)
  expect((await membersOf(pool)).get('commentText')?.records).toBe(2101)
})

test('where prune came first, what it deleted stays uncounted, and the rest is counted', async () => {
  await observed.observe.one(pool, { maxChanges: 1900 })
  await expect
    .poll(async () => (await prune(pool, new Date(Date.now() + 1000))).changes)
    .toBeGreaterThan(0)
  await observe(pool)
  const before = (await membersOf(pool)).get('commentText')?.records ?? 0
  await put(1, 3, `'{"later": 1}'`)
  await observe(pool)
  expect((await membersOf(pool)).get('commentText')?.records).toBe(before + 3)
  expect(await noticed(pool)).toEqual(['comment new later number'])
})

test('who is erased is in no path', async () => {
  await put(1, 3, `'{"seenBy": {"user-7": true, "user-8": true}}'`)
  await observe(pool)
  // Its place may be taken by what was read since it was erased.
  const { pseudonym } = await eraseUser(pool, {
    userId: 'user-7',
    organizationId: null,
    reason: 'asked',
  })
  await pool.query(`insert into collab_store.observed_members (object, path, types, records, first_seen_at, last_seen_at, first_record, last_record)
      select object, array_replace(path, 'user-8', 'user-7'), types, records, first_seen_at, last_seen_at, first_record, last_record
      from collab_store.observed_members where path[2] = 'user-8'`)
  await pool.query(
    `update collab_store.comments set rest = '{"seenBy": {"user-7": true}}' where comment_id = 9`,
  )
  await eraseUser(pool, { userId: 'user-7', organizationId: null, reason: 'asked' })
  await put(1, 3, `'{"seenBy": {"${pseudonym}": true}}'`)
  await observe(pool)
  const paths = [...(await membersOf(pool)).keys()].filter((path) => path.startsWith('seenBy.'))
  expect(paths.toSorted()).toEqual([`seenBy.${pseudonym}`, 'seenBy.user-8'].toSorted())
})

test.each(['42', 'q7'])(
  'an id that may be anything, %s, goes from the paths where what leads to it means people',
  async (userId) => {
    await observe(pool)
    const rest = (id: string) =>
      `'${JSON.stringify({ readBy: { [id]: true, 142: true }, months: { [userId]: 1 }, owners: [{ [id]: 1 }] })}'`
    await put(1, 3, rest(userId))
    await observe(pool)
    const { pseudonym } = await eraseUser(pool, { userId, organizationId: null, reason: 'x' })
    const { rows } = await pool.query(
      `select collab_store.member_of(path) as member from collab_store.observed_members where cardinality(path) > 1
        union all select collab_store.member_of(path) from sync.member_changes where cardinality(path) > 1`,
    )
    expect(rows.map(({ member }) => member).toSorted()).toEqual(
      [
        'from.email',
        'from.name',
        'from.userId',
        `months.${userId}`,
        'owners[]',
        `owners[].${pseudonym}`,
        'readBy.142',
        `readBy.${pseudonym}`,
      ].toSorted(),
    )
    await put(1, 3, rest(pseudonym))
    await observe(pool)
    expect((await noticed(pool)).filter((line) => line.includes(pseudonym))).toEqual([])
  },
)
