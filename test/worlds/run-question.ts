import { rolledBack } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { canonical, readJson } from '../fuzz/exact-json.ts'
import type { Json } from '../fuzz/exact-json.ts'
import type { Asked, View } from './counting.ts'
import { views, viewsAt } from './views.ts'

/** Types of PostgreSQL that are numbers here. */
const NUMBERS = [20, 21, 23, 700, 701, 1700]
/** No run or erasure takes as long, so a time of the database belongs to the last one that began before. */
const RUN_MAX_MS = 10 * 60_000

/** Reads every view as collab_reader. @returns where its rows differ from those that are counted */
export async function differences(
  database: Database,
  asked: Asked,
  times: readonly Date[],
): Promise<string[]> {
  const found: string[] = []
  const ask = async (from: string, { columns, rows }: View) => {
    const read = await rowsOf(database, `select ${columns} from ${from}`, times)
    const [tables, counted] = [read, rows(asked)].map((list) =>
      list.map((row) => JSON.stringify(row)).sort(),
    ) as [string[], string[]]
    if (tables.join('\n') !== counted.join('\n'))
      found.push(
        `${from}\n  the tables: ${only(tables, counted)}\n  counted: ${only(counted, tables)}`,
      )
  }
  for (const [name, view] of Object.entries(views)) await ask(name, view)
  for (const run of [asked.known.runs[0], asked.known.runs.at(-2)]) {
    if (run === undefined) continue
    const at = new Date(run.getTime() + RUN_MAX_MS)
    for (const [name, view] of Object.entries(viewsAt(at)))
      await ask(`${name}('${at.toISOString()}')`, view)
  }
  return found
}

/** The rows that the others lack; all rows where they differ only in how often they occur. */
function only(rows: readonly string[], others: readonly string[]): string {
  const left = rows.filter((row) => !others.includes(row))
  return (left.length > 0 ? left : rows).slice(0, 20).join(' ')
}

/** Rows as collab_reader reads them. A time of a run or an erasure becomes the time at which that began. */
export async function rowsOf(
  database: Database,
  sql: string,
  times: readonly Date[],
): Promise<unknown[][]> {
  const { rows } = await rolledBack(database, async (client) => {
    await client.query('set local timezone = utc')
    await client.query('set local role collab_reader')
    return client.query<unknown[]>({
      text: sql,
      rowMode: 'array',
      types: { getTypeParser: (type: number) => (text: string) => parsed(type, text) },
    } as never)
  })
  return rows.map((row) => row.map((value) => (value instanceof Date ? told(value, times) : value)))
}

function parsed(type: number, text: string): unknown {
  if (NUMBERS.includes(type)) return Number(text)
  if (type === 16) return text === 't'
  if (type === 3802) return canonical(readJson(text) as Json)
  return type === 1184 ? new Date(`${text.replace(' ', 'T')}:00`) : text
}

function told(time: Date, times: readonly Date[]): Date {
  const known = times.findLast((at) => at <= time)
  return known !== undefined && time.getTime() - known.getTime() < RUN_MAX_MS ? known : time
}
