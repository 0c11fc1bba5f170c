import { rolledBack } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { questions } from '../reporting/questions.ts'
import { days, marks, oracle } from './oracle.ts'
import type { Asked } from './counting.ts'

/** Types of PostgreSQL that are numbers here. */
const NUMBERS = [20, 21, 23, 700, 701, 1700]
/** A time of the database's clock is that of the run that had it: none takes as long. */
const RUN_MAX_MS = 10 * 60_000

/**
 * Asks the tables every question of docs/QUESTIONS.md, as collab_reader, and compares the rows with the oracle's.
 * @returns where they differ
 */
export async function differences(
  database: Database,
  asked: Asked,
  runs: readonly Date[],
): Promise<string[]> {
  const found: string[] = []
  const ask = async (what: string, sql: string, expected: readonly unknown[], inOrder: boolean) => {
    const [tables, counted] = [await rowsOf(database, onDay(sql, asked.now), runs), expected].map(
      (rows) => rows.map((row) => JSON.stringify(row)),
    ) as [string[], string[]]
    if (!inOrder) for (const rows of [tables, counted]) rows.sort()
    if (tables.join('\n') !== counted.join('\n'))
      found.push(`${what}\n  the tables: ${tables.join(' ')}\n  the oracle: ${counted.join(' ')}`)
  }
  await ask('reporting.freshness', MARKS, marks(asked), false)
  await ask('reporting.comment_activity_daily', DAYS, days(asked), false)
  for (const [index, { question, sql }] of questions.entries())
    await ask(`${index + 1}. ${question}`, sql, oracle[index]?.(asked) ?? [], true)
  return found
}

// Questions show sums, in which two faults may make up for each other.
const MARKS = `select organization_id, document_id, annotation_id, organization_user_group_id, checked_at, failing_since, is_stale
from reporting.freshness`
const DAYS = 'select organization_id, day, comments from reporting.comment_activity_daily'

/** As the page says: on data of your own put the day of today. */
function onDay(sql: string, now: Date): string {
  return sql.replaceAll('2025-11-03', now.toISOString().slice(0, 10))
}

async function rowsOf(
  database: Database,
  sql: string,
  runs: readonly Date[],
): Promise<unknown[][]> {
  const { rows } = await rolledBack(database, async (client) => {
    await client.query('set local role collab_reader')
    return client.query<unknown[]>({
      text: sql,
      rowMode: 'array',
      types: { getTypeParser: (type: number) => (text: string) => parsed(type, text) },
    } as never)
  })
  return rows.map((row) => row.map((value) => (value instanceof Date ? told(value, runs) : value)))
}

function parsed(type: number, text: string): unknown {
  if (NUMBERS.includes(type)) return Number(text)
  if (type === 16) return text === 't'
  return type === 1184 ? new Date(`${text.replace(' ', 'T')}:00`) : text
}

function told(time: Date, runs: readonly Date[]): Date {
  const run = runs.findLast((at) => at <= time)
  return run !== undefined && time.getTime() - run.getTime() < RUN_MAX_MS ? run : time
}
