import type { BenchDatabase } from './database.ts'

/** Counts every 10 ms the sessions that wait for a lock, until it is stopped. */
export function watchLocks({ pool }: BenchDatabase) {
  let waits = 0
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      // A wait for a file to grow (extend) is not a wait for a row.
      const { rowCount } = await pool.query(
        `select from pg_stat_activity
         where wait_event_type = 'Lock' and wait_event <> 'extend' and datname = current_database()`,
      )
      waits += rowCount ?? 0
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })()
  return {
    async stop() {
      isOver = true
      await watching
      const { rows } = await pool.query(
        'select deadlocks::int from pg_stat_database where datname = current_database()',
      )
      return { waits, deadlocks: rows[0].deadlocks as number }
    },
  }
}
