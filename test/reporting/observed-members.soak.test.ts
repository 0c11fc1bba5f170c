import { beforeEach, expect, test } from 'vitest'
import { transaction } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { createLog } from '../../src/base/log.ts'
import { ObservedMembers } from '../../src/features/observe/observed-members.ts'
import { fillComments } from '../export/fill-comments.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { membersOf, newProcess, noticed, read } from './observed.ts'

let pool: Database
beforeEach(async () => {
  const database = await createTestDatabase()
  ;({ pool } = database)
  await fillComments(database, 20)
  return () => database.drop()
})

const many = (count: number, record: object) =>
  Array.from({ length: count }, (_, n) => ({ commentId: n, ...record }))

/** Has a first load end: what comes up later is new. */
async function known(): Promise<void> {
  await read(pool, many(500, {}))
  await pool.query('update collab_store.observed_records set is_known = true')
}

test('one that 1,000 records lack is absent, and seen again when it is back; a rare one is not missed', async () => {
  await known()
  await read(pool, many(990, { data: { often: 1 } }))
  await read(pool, many(10, { rare: 1 }))
  expect(await noticed(pool)).toEqual(['comment new data object', 'comment new rare number'])
  await read(pool, many(989, {}))
  expect(await noticed(pool)).toEqual([])
  await read(pool, many(1, {}))
  // What was in it is gone with it.
  expect(await noticed(pool)).toEqual(['comment absent data object'])
  expect((await membersOf(pool)).get('data.often')?.is_absent).toBe(true)
  expect((await membersOf(pool)).get('rare')?.is_absent).toBe(false)
  await read(pool, many(1, { data: { often: 1 } }))
  expect((await membersOf(pool)).get('data.often')?.is_absent).toBe(false)
  expect(await noticed(pool)).toEqual([])
})

test('an object with more than 50 different keys is one path, and none of its keys is kept', async () => {
  await known()
  const likes = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, n) => ({
      likes: { [`person-${from + n}`]: { at: 1 } },
    }))
  await read(pool, likes(1, 30))
  expect((await membersOf(pool)).get('likes.person-7.at')).toMatchObject({ records: 1 })
  expect(await noticed(pool)).toEqual(['comment new likes object'])
  // A process that knows keys of its own only learns of the others when it writes.
  const other = newProcess()
  await read(pool, likes(1, 1), other)
  await read(pool, likes(31, 60))
  await read(pool, [{ both: Object.fromEntries(many(51, {}).map((_, n) => [`p${n}`, n])) }])
  await read(pool, likes(2, 2), other)
  await read(pool, [{ ...likes(1, 1)[0], more: 1 }], other)
  const members = await membersOf(pool)
  expect([...members.keys()].filter((path) => /person|both\.p/.test(path))).toEqual([])
  expect(members.get('likes')).toMatchObject({ records: 63 })
  expect(members.get('likes.*')).toMatchObject({ types: ['object'] })
  expect(members.get('likes.*.at')).toMatchObject({ types: ['number'] })
  expect(members.get('both.*')).toMatchObject({ types: ['number'], records: 1 })
  expect(await noticed(pool)).toEqual(['comment new both object', 'comment new more number'])
  const { rows } = await pool.query(
    `select * from collab_store.observed_members o, sync.member_changes c where concat(o.path, c.path) ~ 'person'`,
  )
  expect(rows).toEqual([])
})

test('at most 2,000 paths are kept; what is nested without end, or of any length, ends', async () => {
  const keys = (letter: string, count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [letter + n, value]))
  const wide = keys('a', 10, keys('b', 20, keys('c', 10, 1)))
  await read(pool, many(60, wide))
  expect((await membersOf(pool)).size).toBe(2000)
  await pool.query('delete from collab_store.observed_members')
  const deep = JSON.parse(`${'{"x":'.repeat(400)}1${'}'.repeat(400)}`)
  await read(pool, [{ ...deep, ['y'.repeat(5000)]: 1, '': 1, '*': 1, '[]': 1, 'n\0': 1 }])
  const members = await membersOf(pool)
  expect(members.get('…')).toMatchObject({ types: ['number'], records: 1 })
  expect(members.get('""')).toMatchObject({ types: ['number'] })
  expect(members.get('"*"')).toMatchObject({ types: ['number'] })
  expect(members.get('"[]"')).toMatchObject({ types: ['number'] })
  expect(Math.max(...[...members.keys()].map((path) => path.length))).toBe(39)
})

test('what comes up before a run ended with 500 records is no news', async () => {
  await read(pool, many(499, {}))
  await read(pool, many(1, { rare: 1 }))
  expect(await noticed(pool)).toEqual([])
})

test('many processes at once count each record once', async () => {
  const processes = Array.from({ length: 8 }, () => newProcess())
  for (let times = 0; times < 5; times += 1)
    await Promise.all(processes.map((each) => read(pool, many(10, {}), each)))
  // Who found another one writing kept what was pending.
  for (const each of processes) await read(pool, [{}], each)
  expect((await membersOf(pool)).get('commentId')?.records).toBe(400)
})

test('what is read while members are written is new still, and an error is logged by its code', async () => {
  await known()
  const lines: string[] = []
  const log = createLog('warn', { write: (line) => void lines.push(line) })
  const observed = new ObservedMembers(log)
  observed.see('comment', { first: 1 })
  await observed.withCommit(true, async (write) => {
    await transaction(pool, write)
    observed.see('comment', { second: 1 })
  })
  await pool.query(`create function refuse() returns trigger language plpgsql as
      $$ begin raise program_limit_exceeded using message = new.path::text; end $$;
    create trigger refuse before insert on collab_store.observed_members for each row execute function refuse()`)
  await observed.withCommit(true, (write) => transaction(pool, write))
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ sqlState: '54000' }])
  expect(lines.join('')).not.toContain('second')
  await pool.query('drop function refuse cascade')
  await observed.withCommit(false, (write) => transaction(pool, write))
  expect(await noticed(pool)).toEqual(['comment new first number', 'comment new second number'])
})

test('who is erased is in no path', async () => {
  await known()
  const process = newProcess()
  const seenBy = (...ids: string[]) => [{ seenBy: Object.fromEntries(ids.map((id) => [id, true])) }]
  await read(pool, seenBy('user-7', 'user-8'), process)
  const request = { userId: 'user-7', organizationId: null, reason: 'asked' }
  const { pseudonym } = await eraseUser(pool, request)
  // The process remembers the path, and counts it no more.
  await read(pool, seenBy(pseudonym), process)
  await read(pool, [{ other: 1 }], process)
  const paths = [...(await membersOf(pool)).keys()].filter((path) => path.startsWith('seenBy.'))
  expect(paths.toSorted()).toEqual([`seenBy.${pseudonym}`, 'seenBy.user-8'].toSorted())
})

test.each(['42', 'q7'])(
  'an id that may be anything, %s, goes from the paths where what leads to it means people',
  async (userId) => {
    await known()
    const record = (id: string) => ({
      readBy: { [id]: true, 142: true },
      months: { [userId]: 1 },
      owners: [{ [id]: 1 }],
    })
    await read(pool, [record(userId)])
    const { pseudonym } = await eraseUser(pool, { userId, organizationId: null, reason: 'x' })
    const { rows } = await pool.query(
      `select collab_store.member_of(path) as member from collab_store.observed_members where cardinality(path) > 1
        union all select collab_store.member_of(path) from sync.member_changes where cardinality(path) > 1`,
    )
    expect(rows.map(({ member }) => member).toSorted()).toEqual(
      [
        `months.${userId}`,
        'owners[]',
        `owners[].${pseudonym}`,
        'readBy.142',
        `readBy.${pseudonym}`,
      ].toSorted(),
    )
    await read(pool, [record(pseudonym)])
    expect((await noticed(pool)).filter((line) => line.includes(pseudonym))).toEqual([])
  },
)
