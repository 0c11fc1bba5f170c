import { figure, median, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import type { BenchDatabase } from '../database.ts'
import { walOf } from '../database.ts'
import { openPlace } from '../place.ts'
import { environmentOf, startProgram } from '../program.ts'
import { FOUR_THOUSAND } from '../worlds.ts'

const CHANGES = 400
const ROUNDS = 5
const TABLES = ['comments', 'comment_versions', 'annotations', 'users']

/** WAL of a run after 400 of 40,000 comments were edited. All pages were logged before, so that none is logged whole. */
export const changed: Comparison = {
  name: 'changed',
  title: 'A run that finds 1 % changed',
  async run(servers) {
    const place = await openPlace(servers, FOUR_THOUSAND, ['--prepare'])
    const database = await place.createDatabase()
    try {
      const program = await startProgram(environmentOf({ ...place, database }, 'redis'))
      await program.run()
      await database.pool.query('vacuum (freeze, analyze)')
      let seed = 0
      const change = () =>
        place.standIn.control({ changes: { count: CHANGES, seed: seed++, kinds: ['edit'] } })
      await change()
      const afterCheckpoint = await walOf(servers, () => program.run())
      // More changes than are measured, so that index pages too are logged once before.
      for (let round = 0; round < 5; round++) {
        await change()
        await program.run()
      }
      await logEveryPage(database)
      const above: number[] = []
      const aboveBare: number[] = []
      const bare: number[] = []
      const sizes: number[] = []
      let updated = 0
      const deadBefore = await deadTuples(database)
      for (let round = 0; round < ROUNDS; round++) {
        const idle = await walOf(servers, () => program.run(), { checkpoint: false })
        await change()
        const before = await written(database)
        const { walBytes, result } = await walOf(servers, () => program.run(), {
          checkpoint: false,
        })
        const after = await written(database)
        const changedRows = after.versions - before.versions
        const size = sizeOf(before, after)
        sizes.push(size / changedRows)
        above.push((walBytes - size) / changedRows)
        aboveBare.push((walBytes - idle.walBytes - size) / changedRows)
        bare.push(idle.walBytes / changedRows)
        updated += result.updated
      }
      const dead = (await deadTuples(database)) - deadBefore - updated
      await program.stop()
      return {
        tables: [
          {
            title: '400 edited comments of 40,000',
            head: ['', 'bytes a changed comment'],
            rows: [
              ['what changed: new row and kept version', short(median(sizes))],
              ['WAL above that', short(median(above))],
              ['... and above a run with nothing changed', short(median(aboveBare))],
              ['WAL in all, right after a checkpoint', short(afterCheckpoint.walBytes / CHANGES)],
              ['WAL of a run with nothing changed, in all', short(median(bare))],
            ],
          },
        ],
        figures: [
          figure('changed.wal', 'WAL a changed comment above the size of what changed', above, {
            unit: 'bytes',
            atMost: 250,
          }),
          figure('changed.dead', 'dead rows of comments beyond those changed', [dead], {
            unit: 'rows',
            atMost: 0,
          }),
        ],
      }
    } finally {
      await database.drop()
      await place.close()
    }
  },
}

/** The first touch of a page after a checkpoint logs all of it: locking every row is the cheapest touch. */
async function logEveryPage({ pool }: BenchDatabase): Promise<void> {
  for (const table of TABLES) {
    await pool.query(
      `select count(*) from (select 1 from collab_store.${table} for no key update) locked`,
    )
  }
}

interface Written {
  readonly versions: number
  readonly versionBytes: number
  readonly rowBytes: number
  readonly rows: number
}

async function written({ pool }: BenchDatabase): Promise<Written> {
  const { rows } = await pool.query(`
    select (select count(*) from collab_store.comment_versions)::int as versions,
      (select coalesce(sum(pg_column_size(v.*)), 0) from collab_store.comment_versions v)::int as version_bytes,
      (select sum(pg_column_size(c.*)) from collab_store.comments c)::int as row_bytes,
      (select count(*) from collab_store.comments)::int as rows`)
  const [row] = rows
  return {
    versions: row.versions,
    versionBytes: row.version_bytes,
    rowBytes: row.row_bytes,
    rows: row.rows,
  }
}

/** Bytes of the versions that were kept, and of as many rows of average size. */
function sizeOf(before: Written, after: Written): number {
  const changedRows = after.versions - before.versions
  return after.versionBytes - before.versionBytes + (after.rowBytes / after.rows) * changedRows
}

async function deadTuples({ pool }: BenchDatabase): Promise<number> {
  // A backend that is idle tells its counts after ten seconds at the latest.
  await new Promise((resolve) => setTimeout(resolve, 11_000))
  const { rows } = await pool.query(
    `select coalesce(n_tup_upd + n_tup_del, 0)::int as dead from pg_stat_user_tables
     where schemaname = 'collab_store' and relname = 'comments'`,
  )
  return rows[0].dead
}
