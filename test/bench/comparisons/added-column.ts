import { addColumn, listColumns, removeColumn } from '../../../src/database/added-columns.ts'
import type { Database } from '../../../src/database/pool.ts'
import type { ColumnRequest } from '../../../src/documents/column.ts'
import { figure, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { createBenchDatabase, walOf } from '../database.ts'
import { generate } from '../reports/reports.ts'
import { commitBeside, watchLocksOf } from './erasure.ts'

const MILLION = { organizations: 400, annotations: 200_000, comments: 1_000_000 }
const COLUMN: ColumnRequest = {
  object: 'comments',
  name: 'likes',
  member: 'reactions.0.count',
  type: 'integer',
  index: false,
}

export const addedColumn: Comparison = {
  name: 'column',
  title: 'A column added at 1,000,000 comments',
  explains:
    'A member that one comment in twelve has is added as a column, then with its index, then removed, while readers ask the views and something takes batches and writes to them as commits do.',
  isOnlyByName: true,
  async run(servers) {
    const database = await createBenchDatabase(servers, null)
    const { url, pool } = database
    try {
      await generate(url, MILLION)
      const locks = await locksOfAdding(pool)
      const steps = []
      for (const [what, work] of [
        ['add', () => addColumn(url, COLUMN, true)],
        ['add with its index', () => addColumn(url, { ...COLUMN, index: true }, true)],
        ['list', () => listColumns(pool)],
        ['remove', () => removeColumn(url, COLUMN)],
      ] as const) {
        const watch = watchLocksOf(pool, 'column')
        const commits = commitBeside(pool)
        const readers = readBeside(pool)
        const began = performance.now()
        const { walBytes } = await walOf<unknown>(servers, work)
        const seconds = (performance.now() - began) / 1000
        const read = await readers.stop()
        const committed = await commits.stop()
        const { blockedMs } = await watch.stop()
        const row = [short(seconds), short(walBytes / 1e6), read.queries, short(read.longestMs)]
        const wrote = [committed.commits, short(committed.longestMs), blockedMs]
        steps.push({ seconds, blockedMs, row: [what, ...row, ...wrote] })
      }
      return {
        tables: [
          {
            title: 'Beside readers and commits',
            head: [
              '',
              'seconds',
              'MB of WAL, that of the commits too',
              'queries',
              'longest, ms',
              'commits',
              'longest, ms',
              'longest wait for it seen, ms',
            ],
            rows: steps.map(({ row }) => row),
          },
          {
            title: `Locks of its transaction, which takes ${short(locks.ms)} ms`,
            head: ['mode', 'on'],
            rows: locks.held,
          },
        ],
        figures: [
          figure('column.seconds', 'seconds to add a column', [steps[0]?.seconds ?? 0], {
            unit: 's',
            better: 'lower',
          }),
          figure('column.locked', 'milliseconds for which the views are locked', [locks.ms], {
            unit: 'ms',
            better: 'lower',
          }),
        ],
      }
    } finally {
      await database.drop()
    }
  },
}

/** What the transaction holds at its end, and how long it takes. */
async function locksOfAdding(pool: Database) {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const began = performance.now()
    await client.query(
      `select collab_store.add_column('comments', 'likes', 'reactions.0.count', 'integer', null, false)`,
    )
    const ms = performance.now() - began
    const { rows } = await client.query<{ mode: string; on: string }>(
      `select mode, relation::regclass::text as on from pg_locks
      where pid = pg_backend_pid() and relation::regclass::text ~ '^(collab|reporting|collab_store)' and mode <> 'AccessShareLock'
      order by 2, 1`,
    )
    return { ms, held: rows.map(({ mode, on }) => [mode, on]) }
  } finally {
    await client.query('rollback')
    client.release()
  }
}

/** Asks two of the views for what a report would ask. */
function readBeside(pool: Database) {
  let isOver = false
  let queries = 0
  let longestMs = 0
  const reading = (async () => {
    while (!isOver) {
      for (const view of ['reporting.comments', 'collab.comments']) {
        const began = performance.now()
        await pool.query(
          `select status, count(*) from ${view} where organization_id = 'org-200' group by 1`,
        )
        longestMs = Math.max(longestMs, performance.now() - began)
        queries += 1
      }
    }
  })()
  return {
    async stop() {
      isOver = true
      await reading
      return { queries, longestMs }
    },
  }
}
