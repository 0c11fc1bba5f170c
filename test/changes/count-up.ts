import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../src/core/database/pool.ts'
import { transaction } from '../../src/core/database/pool.ts'

/** Sets the texts of all comments to 0, from which {@link countUp} starts. */
export async function countFromZero(database: Database): Promise<void> {
  await database.query(`update collab_store.comments set comment_text = '0'`)
}

/**
 * Increments the texts of comments, in transactions that overtake each other: some draw their ID long before they write.
 * @returns how many comments it wrote
 */
export async function countUp(
  database: Database,
  writing: { readonly writers: number; readonly rowsEach: number },
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
