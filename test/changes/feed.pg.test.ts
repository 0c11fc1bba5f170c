import { afterAll, beforeAll, expect, test } from 'vitest'
import { readChanges, readHeldBack } from '../../src/features/export/changes.ts'
import { withSnapshot } from '../../src/features/export/rows.ts'
import { prune } from '../../src/features/privacy/prune.ts'
import { CursorGoneError, UsageError } from '../../src/base/errors.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { fillComments } from '../export/fill-comments.ts'
import { Copy, lineOf, readAll } from './copy.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await fillComments(database, 6000)
})
afterAll(() => database.drop())

const EDIT = `update collab_store.comments set comment_text = $1, version = version + 1, change = 'edited' where comment_id = $2`

test('whoever draws a transaction id first and writes a row last comes last, and holds back until then who wrote first', async () => {
  const { cursor } = await readAll(database.pool, null, 1000)
  const [first, second] = [await database.pool.connect(), await database.pool.connect()]
  try {
    await first.query(`begin; select pg_current_xact_id()`)
    await second.query('begin')
    await second.query(EDIT, ['written first', 1])
    const { rows } = await second.query(
      `select pg_current_xact_id()::text::bigint > pg_snapshot_xmin(pg_current_snapshot())::text::bigint as is_later, pg_backend_pid()`,
    )
    expect(rows[0].is_later).toBe(true)
    await second.query('commit')

    const none = await readChanges(database.pool, { after: cursor, max: 10, objects: null })
    expect(none).toMatchObject({ changes: [], hasMore: false })
    const held = await readHeldBack(database.pool)
    expect(held.lines).toBe(1)
    expect(held.roleName).not.toBe(null)
    expect(held.since?.getTime()).toBeLessThanOrEqual(Date.now())

    await first.query(EDIT, ['written last', 1])
    await first.query('commit')
    const { changes } = await readAll(database.pool, cursor)
    const logged = await database.pool.query(
      'select number::int, xid::text::bigint::int as xid from collab_store.changes order by number desc limit 2',
    )
    const [last, before] = logged.rows
    expect(last.xid).toBeLessThan(before.xid)
    expect(changes.map(({ cursor: each }) => Number(each.split('-')[3]))).toEqual([
      before.number,
      last.number,
    ])
    expect(lineOf(changes[1]!).row).toMatchObject({ comment_text: 'written last' })
  } finally {
    first.release(true)
    second.release(true)
  }
})

test('pages of any size, and any cursor of a line, go on behind it: none is left out and none comes twice', async () => {
  const { changes } = await readAll(database.pool, null, 1000)
  const keys = changes.map(({ cursor, key }) => cursor.split('-').slice(3).join('-') + key)
  for (const max of [1, 7, 499]) {
    const start = Math.max(0, changes.length - 30 * max)
    const { changes: rest } = await readAll(database.pool, changes[start]!.cursor, max)
    expect(rest.map(({ cursor, key }) => cursor.split('-').slice(3).join('-') + key)).toEqual(
      keys.slice(start + 1),
    )
  }
})

test('objects that are not asked for are looked through all the same', async () => {
  const page = await readChanges(database.pool, { after: null, max: 1500, objects: ['document'] })
  expect(page.changes.map(({ object, key }) => [object, JSON.parse(key)])).toEqual([
    ['document', { organization_id: 'o', document_id: 'd' }],
  ])
  expect(page.hasMore).toBe(true)
})

test('what is no cursor is refused, and one of another database is gone', async () => {
  const read = (after: string) => readChanges(database.pool, { after, max: 1, objects: null })
  for (const wrong of ['', 'x', '5d0c2e7b91aa-1-1-0', `5d0c2e7b91aa-1-1-0-0'`]) {
    await expect(read(wrong)).rejects.toThrow('This is no cursor of the feed of changes.')
    await expect(read(wrong)).rejects.toThrow(UsageError)
  }
  const other = await createTestDatabase()
  try {
    const { cursor } = await readChanges(other.pool, { after: null, max: 1, objects: null })
    await expect(read(cursor)).rejects.toThrow(CursorGoneError)
    await expect(read(cursor)).rejects.toThrow(
      /another feed.*Start again with `collab-sync export`/,
    )
  } finally {
    await other.drop()
  }
  // A file system that was set back has the same identity, and transactions that are not there yet.
  const { cursor } = await readChanges(database.pool, { after: null, max: 1, objects: null })
  const [feed] = cursor.split('-')
  await expect(read(`${feed}-1-999999999999-1-1`)).rejects.toThrow(CursorGoneError)
})

test('an export says a cursor behind which everything comes that it does not hold', async () => {
  const copy = new Copy()
  const cursor = await withSnapshot(database.pool, async (snapshot) => {
    await database.pool.query(EDIT, ['after the picture', 2])
    return snapshot.cursor
  })
  const { changes } = await readAll(database.pool, cursor)
  for (const change of changes) copy.apply(lineOf(change))
  expect([...copy.rows.values()].map((row) => row['comment_text'])).toContain('after the picture')
})

test('prune deletes what is old, after which a cursor is gone unless all of it was read', async () => {
  const { changes, cursor } = await readAll(database.pool, null, 1000)
  const { changes: pruned } = await prune(database.pool, new Date(Date.now() + 1000))
  expect(pruned).toBeGreaterThan(3)
  const gone = readChanges(database.pool, { after: changes[5]!.cursor, max: 1, objects: null })
  await expect(gone).rejects.toThrow(CursorGoneError)
  await expect(gone).rejects.toThrow(/too old: prune has deleted/)
  for (const after of [cursor, changes.at(-1)!.cursor]) {
    await database.pool.query(EDIT, ['after prune', 3])
    const { changes: rest } = await readAll(database.pool, after)
    expect(rest.length).toBeGreaterThan(0)
  }
})

test('what a dump brought of a server with more transactions makes no cursor too old, and holds nothing back', async () => {
  await database.pool.query(
    `update collab_store.changes set xid = (xid::text::bigint + 1000000000)::text::xid8`,
  )
  await prune(database.pool, new Date(Date.now() + 1000))
  const { cursor } = await readChanges(database.pool, { after: null, max: 10, objects: null })
  await database.pool.query(EDIT, ['after the dump', 4])
  const { changes } = await readAll(database.pool, cursor)
  expect(changes).toHaveLength(1)
})
