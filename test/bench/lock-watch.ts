import type { BenchDatabase } from './database.ts'

/** Looks every 10 ms for sessions that wait for a lock, until it is stopped. */
export function watchLocks({ pool }: BenchDatabase) {
  const seen = new Map<string, number>()
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      const { rows } = await pool.query(
        `select wait_event || ' in ' || left(query, 60) as what from pg_stat_activity
         where wait_event_type = 'Lock' and datname = current_database()`,
      )
      for (const { what } of rows) seen.set(what, (seen.get(what) ?? 0) + 1)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })()
  return {
    async stop() {
      isOver = true
      await watching
      return seen
    },
  }
}

/** A wait for a file to grow, which is nobody's row. */
export function isGrowth(what: string): boolean {
  return what.startsWith('extend ')
}

/** How often waits of some kind were seen. */
export function total(
  waits: ReadonlyMap<string, number>,
  counts: (what: string) => boolean,
): number {
  return [...waits].reduce((sum, [what, times]) => (counts(what) ? sum + times : sum), 0)
}

/** Deadlocks in a database since it was made. */
export async function deadlocks({ pool }: BenchDatabase): Promise<number> {
  const { rows } = await pool.query(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )
  return rows[0].deadlocks
}
