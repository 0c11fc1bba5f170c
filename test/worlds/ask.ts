import { rolledBack } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { questions } from '../reporting/questions.ts'
import type { Asked } from './counting.ts'
import { marks, oracle } from './oracle.ts'
import { views, viewsAt } from './views.ts'

/** Types of PostgreSQL that are numbers here. */
const NUMBERS = [20, 21, 23, 700, 701, 1700]
/** A time of the database's clock is that of the run or erasure that had it: none takes as long. */
const RUN_MAX_MS = 10 * 60_000

/**
 * Asks the tables every question of docs/QUESTIONS.md and every view, as collab_reader, and compares the rows with those that
 * are counted.
 * @returns where they differ
 */
export async function differences(
  database: Database,
  asked: Asked,
  times: readonly Date[],
): Promise<string[]> {
  const found: string[] = []
  const ask = async (what: string, sql: string, expected: readonly unknown[], inOrder: boolean) => {
    const [tables, counted] = [await rowsOf(database, onDay(sql, asked.now), times), expected].map(
      (rows) => rows.map((row) => JSON.stringify(row)),
    ) as [string[], string[]]
    if (!inOrder) for (const rows of [tables, counted]) rows.sort()
    if (tables.join('\n') !== counted.join('\n'))
      found.push(
        `${what}\n  the tables: ${only(tables, counted)}\n  counted: ${only(counted, tables)}`,
      )
  }
  await ask('reporting.freshness', MARKS, marks(asked), false)
  for (const [name, { columns, rows }] of Object.entries(views))
    await ask(name, `select ${columns} from reporting.${name}`, rows(asked), false)
  for (const run of [asked.known.runs[0], asked.known.runs.at(-2)]) {
    if (run === undefined) continue
    const at = new Date(run.getTime() + RUN_MAX_MS)
    for (const [name, { columns, rows }] of Object.entries(viewsAt(at))) {
      const sql = `select ${columns} from reporting.${name}('${at.toISOString()}')`
      await ask(`${name} ${at.toISOString()}`, sql, rows(asked), false)
    }
  }
  for (const [index, { question, sql }] of questions.entries())
    await ask(`${index + 1}. ${question}`, sql, oracle[index]?.(asked) ?? [], true)
  return found
}

/** The rows that the others lack, or all where they are in another order. */
function only(rows: readonly string[], others: readonly string[]): string {
  const left = rows.filter((row) => !others.includes(row))
  return (left.length > 0 ? left : rows).slice(0, 20).join(' ')
}

// Questions show sums, in which two faults may make up for each other.
const MARKS = `select organization_id, document_id, annotation_id, organization_user_group_id, checked_at, failing_since, is_stale,
  organization_name, document_name, user_group_name
from reporting.freshness`

/** As the page says: on data of your own put the day of today. */
function onDay(sql: string, now: Date): string {
  return sql.replaceAll('2025-11-03', now.toISOString().slice(0, 10))
}

async function rowsOf(
  database: Database,
  sql: string,
  times: readonly Date[],
): Promise<unknown[][]> {
  const { rows } = await rolledBack(database, async (client) => {
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
  return type === 1184 ? new Date(`${text.replace(' ', 'T')}:00`) : text
}

function told(time: Date, times: readonly Date[]): Date {
  const known = times.findLast((at) => at <= time)
  return known !== undefined && time.getTime() - known.getTime() < RUN_MAX_MS ? known : time
}
