import { figure, median, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { createDatabaseOf, walOf } from '../database.ts'
import type { BenchDatabase } from '../database.ts'
import { openDirectSync } from '../direct-run.ts'
import { MemoryApi } from '../memory-api.ts'
import { FOUR_THOUSAND, worldOf } from '../worlds.ts'

const RUNS = 7
const RECORD_TABLES = [
  'comments',
  'comment_versions',
  'annotations',
  'documents',
  'organizations',
  'user_groups',
  'users',
  'user_versions',
  'document_users',
  'user_group_members',
]

/** Responses from memory, compared with `JSON.parse` of the same bytes in the same process. */
export const unchanged: Comparison = {
  name: 'unchanged',
  title: 'A run that finds nothing changed',
  async run(servers) {
    const world = worldOf({ ...FOUR_THOUSAND, documents: 25 })
    const comments = 100_000
    const database = await createDatabaseOf(servers, world)
    const api = new MemoryApi()
    const sync = await openDirectSync(api, database)
    try {
      api.prepare(world, 0)
      await sync.run()
      const xid = await nextXid(database)
      const parse: number[] = []
      const same: number[] = []
      const sameWal: number[] = []
      const order: number[] = []
      const orderWal: number[] = []
      for (let run = 0; run < RUNS; run++) {
        api.prepare(world, 0)
        parse.push(parseMs(api.bodies))
        const asIs = await walOf(servers, () => sync.run())
        same.push(asIs.result)
        sameWal.push(asIs.walBytes / comments)
        api.prepare(world, run + 1)
        const reordered = await walOf(servers, () => sync.run())
        order.push(reordered.result)
        orderWal.push(reordered.walBytes / comments)
      }
      const touched = await rowsTouched(database, xid)
      const shares = (runs: number[]) => runs.map((ms, run) => (parse[run] as number) / ms).slice(2)
      const rate = (runs: number[]) => short((comments / median(runs.slice(2))) * 1000)
      return {
        tables: [
          {
            title: '10,560 responses, 100,000 comments, from memory',
            head: ['', 'comments/s', 'of JSON.parse', 'WAL bytes a comment'],
            rows: [
              ['JSON.parse alone', rate(parse), 1, 0],
              ['same bytes', rate(same), short(median(shares(same))), short(median(sameWal))],
              ['another order', rate(order), short(median(shares(order))), short(median(orderWal))],
            ],
          },
        ],
        figures: [
          figure('unchanged.same-bytes', 'rate / rate of JSON.parse', shares(same), {
            atLeast: 0.5,
          }),
          figure('unchanged.other-order', 'rate / rate of JSON.parse', shares(order), {
            atLeast: 0.15,
          }),
          figure('unchanged.wal', 'WAL a comment', [...sameWal, ...orderWal], {
            unit: 'bytes',
            atMost: 2,
          }),
          figure('unchanged.rows-touched', 'rows of collab written or locked', [touched], {
            unit: 'rows',
            atMost: 0,
          }),
        ],
      }
    } finally {
      await sync.close()
      await database.drop()
    }
  },
}

function parseMs(bodies: readonly Buffer[]): number {
  const startedMs = performance.now()
  for (const body of bodies) JSON.parse(body.toString())
  return performance.now() - startedMs
}

async function nextXid({ pool }: BenchDatabase): Promise<number> {
  const { rows } = await pool.query('select pg_current_xact_id()::text::bigint as xid')
  return rows[0].xid
}

/** Rows of the records' tables that a transaction since `xid` has written, or only locked. */
async function rowsTouched({ pool }: BenchDatabase, xid: number): Promise<number> {
  let touched = 0
  for (const table of RECORD_TABLES) {
    const { rows } = await pool.query(
      `select count(*) as rows from collab_store.${table} where xmin::text::bigint > $1 or xmax::text::bigint > $1`,
      [xid],
    )
    touched += rows[0].rows
  }
  return touched
}
