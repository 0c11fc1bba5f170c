import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../src/core/database/pool.ts'
import { transaction } from '../../src/core/database/pool.ts'
import { Copy, differences } from './copy.ts'
import type { Line } from './copy.ts'

/** What writers do meanwhile. */
export interface Writing {
  /** Each writes one transaction after the other. */
  readonly writers: number
  /** Until it was killed so often. */
  readonly kills: number
  readonly rowsEach: number
}

/** What a follower saw who was killed again and again. */
export interface Followed {
  readonly copy: Copy
  readonly lines: number
  readonly kills: number
  /** Lines of a row that showed it older than a line before. */
  readonly outOfOrder: number
}

/**
 * Has writers change comments whose text is a number that counts up, some in transactions that draw their id long before they
 * write, while a follower (`collab-sync changes --follow`) is killed at random and started again behind its last whole line,
 * until it has seen all that they wrote.
 * @param start starts it with such flags
 */
export async function followKilled(
  database: Database,
  writing: Writing,
  start: (flags: string[]) => ChildProcess,
): Promise<Followed> {
  const isEqual = async () =>
    Object.values(await differences(copy, database)).every(({ length }) => length === 0)
  await countFromZero(database)
  const copy = new Copy()
  const seen = new Map<string, number>()
  let [lines, kills, outOfOrder] = [0, 0, 0]
  let cursor: string | null = null
  const apply = (text: string) => {
    const line = JSON.parse(text) as Line & { cursor: string }
    copy.apply(line)
    lines += 1
    cursor = line.cursor
    if (line.object !== 'comment') return
    const row = JSON.stringify(line.key)
    const count = Number(line.row?.['comment_text'])
    if (count < (seen.get(row) ?? 0)) outOfOrder += 1
    seen.set(row, count)
  }
  let isWritten = false
  const written = countUp(database, writing, () => kills >= writing.kills).then(
    () => void (isWritten = true),
  )
  for (;;) {
    const child = start(['--follow', ...(cursor === null ? [] : ['--after', cursor])])
    const gone = once(child, 'close')
    const from = lines
    createInterface({ input: child.stdout! }).on('line', (text) => {
      // The last line may be cut.
      if (text.endsWith('}') && isJson(text)) apply(text)
    })
    while (lines === from && !isWritten) await sleep(20)
    await sleep(Math.random() * 400)
    while (isWritten && !(await isEqual())) await sleep(100)
    child.kill('SIGKILL')
    await gone
    if (isWritten && (await isEqual())) break
    kills += 1
  }
  await written
  return { copy, lines, kills, outOfOrder }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** What {@link countUp} begins with. */
export async function countFromZero(database: Database): Promise<void> {
  await database.query(`update collab_store.comments set comment_text = '0'`)
}

/**
 * Counts up the texts of comments, in transactions that overtake each other.
 * @returns how many comments it wrote
 */
export async function countUp(
  database: Database,
  writing: Pick<Writing, 'writers' | 'rowsEach'>,
  isEnough: (written: number) => boolean,
): Promise<number> {
  let written = 0
  const { rows } = await database.query<{ ctid: string; id: number }>(
    'select comment_id::int as id from collab_store.comments order by comment_id',
  )
  const ids = rows.map(({ id }) => id)
  const one = async () => {
    while (!isEnough(written)) {
      const first = Math.floor(Math.random() * ids.length)
      const chosen = ids.slice(first, first + writing.rowsEach)
      await transaction(database, async (client) => {
        const isSlow = Math.random() < 0.3
        if (isSlow) {
          await client.query('select pg_current_xact_id()')
          await sleep(Math.random() * 100)
        }
        await client.query(
          `update collab_store.comments c set comment_text = (comment_text::int + 1)::text,
            deleted_at = case when comment_id % 7 = 0 and deleted_at is null then now() end
          from (select ctid from collab_store.comments where comment_id = any($1) order by comment_id for update) t
          where c.ctid = t.ctid`,
          [chosen],
        )
        if (isSlow) await sleep(Math.random() * 20)
      })
      written += chosen.length
    }
  }
  await Promise.all(Array.from({ length: writing.writers }, one))
  return written
}
