import { expect, test } from 'vitest'
import { readChanges } from '../../src/features/export/changes.ts'
import { prune } from '../../src/features/privacy/prune.ts'
import { CursorGoneError, UsageError } from '../../src/base/errors.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { fillComments } from '../export/fill-comments.ts'
import { readAll } from './copy.ts'

const database = await createTestDatabase()
await fillComments(database, 6000)

const EDIT = `update collab_store.comments set comment_text = $1, version = version + 1, change = 'edited' where comment_id = $2`

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
  const { cursor: foreign } = await readChanges(other.pool, { after: null, max: 1, objects: null })
  await expect(read(foreign)).rejects.toThrow(CursorGoneError)
  await expect(read(foreign)).rejects.toThrow(/another feed.*Start again with `collab-sync export`/)
  // A file system that was set back has the same identity, and transactions that are not there yet.
  const { cursor } = await readChanges(database.pool, { after: null, max: 1, objects: null })
  const [feed] = cursor.split('-')
  await expect(read(`${feed}-1-999999999999-1-1`)).rejects.toThrow(CursorGoneError)
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
