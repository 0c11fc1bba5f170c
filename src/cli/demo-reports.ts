import type { Database } from '../core/database/pool.ts'
import * as demo from '../core/database/statements/demo.ts'
import type { Column, Value } from '../schemas/columns.ts'
import { heading, print } from './output.ts'
import { table } from './table.ts'

/** Sample reports from `reporting` and `collab`. */
export type DemoReports = Awaited<ReturnType<typeof readDemoReports>>

/** `commentHistory` is empty if no comment was edited. */
export async function readDemoReports(database: Database) {
  return {
    commentsPerDay: await demo.commentsPerDay.all(database),
    mostDiscussedDocuments: await demo.mostDiscussedDocuments.all(database),
    commentHistory: await demo.commentHistory.all(database),
    freshness: await demo.freshness.all(database),
  }
}

/** Prints each report as a table, with the name of its view. */
export function printDemoReports(reports: DemoReports): void {
  const titles = {
    commentsPerDay: 'Comments per day, all organizations (reporting.comment_activity_daily)',
    mostDiscussedDocuments: 'Most discussed documents (reporting.comments)',
    commentHistory: 'The history of one comment (collab.comment_versions)',
    freshness: 'Age of the last check (reporting.freshness)',
  } satisfies Record<keyof DemoReports, string>
  for (const [name, title] of Object.entries(titles)) {
    const rows: readonly Readonly<Record<string, Value>>[] = reports[name as keyof DemoReports]
    const columns = Object.entries(rows[0] ?? {}).map(
      ([name, value]): Column<(typeof rows)[number]> => [
        name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
        (row) => row[name] ?? null,
        typeof value === 'number' ? 'number' : undefined,
      ],
    )
    print(`${heading(title)}\n${table(columns, rows)}`)
  }
}
