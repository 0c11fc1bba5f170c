import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { buildCommand } from '../cli/built-command.ts'
import type { Environment } from '../cli/built-command.ts'
import { fillComments } from '../export/fill-comments.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { Copy, differences, NO_DIFFERENCES, readAll } from './copy.ts'
import type { Line } from './copy.ts'
import { countFromZero, countUp } from './count-up.ts'

const command = await buildCommand()
const database = await createTestDatabase()
await fillComments(database, 2000)
const settings: Environment = { DATABASE_URL: database.url }

test('a follower that is killed at random beside writers that overtake each other loses nothing, and sees no row grow younger', async () => {
  const copy = new Copy()
  const seen = new Map<string, number>()
  let [lines, kills, outOfOrder, isWritten] = [0, 0, 0, false]
  let cursor: string | null = null
  const apply = (text: string) => {
    const line = JSON.parse(text) as Line & { cursor: string }
    const row = copy.apply({ ...line, person: line.person ?? null })
    lines += 1
    cursor = line.cursor
    if (line.object !== 'comment') return
    const count = Number(line.row?.['comment_text'])
    if (count < (seen.get(row) ?? 0)) outOfOrder += 1
    seen.set(row, count)
  }
  const isEqual = async () =>
    isDeepStrictEqual(await differences(copy, database.pool), NO_DIFFERENCES)
  await countFromZero(database.pool)
  const writing = countUp(database.pool, { writers: 4, rowsEach: 8 }, () => kills >= 3).then(
    () => void (isWritten = true),
  )
  for (;;) {
    const flags = ['--follow', ...(cursor === null ? [] : ['--after', cursor])]
    const { child, ended } = command.start(['changes', ...flags], settings)
    const from = lines
    createInterface({ input: child.stdout! }).on('line', (text) => {
      // The last line may be incomplete.
      if (/"run_id":(null|"[-0-9a-f]{36}")\}$/.test(text)) apply(text)
    })
    while (lines === from && !isWritten) await sleep(20)
    await sleep(Math.random() * 400)
    while (isWritten && !(await isEqual())) await sleep(100)
    child.kill('SIGKILL')
    await ended
    if (isWritten && (await isEqual())) break
    kills += 1
  }
  await writing
  expect(outOfOrder).toBe(0)
  expect(lines).toBeGreaterThan(5000)
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
    await follower.shows(/1 more change delayed by a transaction of \S+ in the database \S+, /)
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
