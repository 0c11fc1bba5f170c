import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand, Environment } from '../cli/built-command.ts'
import { fillComments } from '../export/fill-comments.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { differences, NO_DIFFERENCES, readAll } from './copy.ts'
import { followKilled } from './killed-follower.ts'

let command: BuiltCommand
let database: TestDatabase
let settings: Environment
beforeAll(async () => {
  command = await buildCommand()
  database = await createTestDatabase()
  await fillComments(database, 2000)
  settings = { DATABASE_URL: database.url }
})
afterAll(async () => {
  await command?.remove()
  await database?.drop()
})

test('a follower that is killed at random beside writers that overtake each other loses nothing, and sees no row grow younger', async () => {
  const followed = await followKilled(
    database.pool,
    { writers: 4, kills: 3, rowsEach: 8 },
    (flags) => command.start(['changes', ...flags], settings).child,
  )
  expect(await differences(followed.copy, database.pool)).toEqual(NO_DIFFERENCES)
  expect(followed.outOfOrder).toBe(0)
  expect(followed.lines).toBeGreaterThan(5000)
})

test('who follows hears of a change, and is told by whom the feed is held back, by doctor too', async () => {
  const { cursor } = await readAll(database.pool, null, 1000)
  const follower = command.start(['changes', '--follow', '--after', cursor ?? ''], settings)
  const holder = await database.pool.connect()
  try {
    await holder.query('begin; select pg_current_xact_id()')
    await database.pool.query(
      `update collab_store.comments set comment_text = 'heard' where comment_id = 9`,
    )
    await follower.shows(/1 more change waits for a transaction of \S+ in the database \S+, /)
    const doctor = async () => (await command.run(['doctor', '--json'], settings)).stdout
    await expect
      .poll(doctor, { timeout: 60_000 })
      .toMatch(
        /"feed of changes",\s+"state": "warn",\s+"found": "1 change delayed by [^"]+ in the database /,
      )
    await holder.query('rollback')
    await follower.shows(/"comment_text":"heard"/)
  } finally {
    holder.release(true)
    follower.child.kill('SIGKILL')
    await follower.ended
  }
})
