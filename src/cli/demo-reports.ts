import type { Database } from '../database/pool.ts'
import * as demo from '../database/statements/demo.ts'
import { count, shorten, time } from '../format.ts'
import { heading, print, table } from './output.ts'

/** A few questions that analysts ask, answered from `reporting` and `collab`. */
export type DemoReports = Awaited<ReturnType<typeof readDemoReports>>

/** Asks them; `commentHistory` is empty where no comment was ever edited. */
export async function readDemoReports(database: Database) {
  return {
    commentsPerDay: await demo.commentsPerDay.all(database),
    mostDiscussedDocuments: await demo.mostDiscussedDocuments.all(database),
    commentHistory: (await demo.commentHistory.all(database)).map(
      ({ version, change, validFrom, status, commentText }) => ({
        version,
        change,
        validFrom,
        status,
        commentText,
      }),
    ),
    freshness: await demo.freshness.all(database),
  }
}

const RIGHT = 'right' as const

/** Prints what analysts can ask, each answer as a table with the view it comes from. */
export function printDemoReports(reports: DemoReports): void {
  print(heading('Comments a day, all organizations (reporting.comment_activity_daily)'))
  print(
    table(
      [
        { head: 'day' },
        { head: 'comments', align: RIGHT },
        { head: 'authors', align: RIGHT },
        { head: 'annotations', align: RIGHT },
      ],
      reports.commentsPerDay.map((row) => [
        row.day,
        count(row.comments),
        count(row.authors),
        count(row.annotations),
      ]),
    ),
  )
  print(heading('Most discussed documents (reporting.comments)'))
  print(
    table(
      [
        { head: 'organization' },
        { head: 'document' },
        { head: 'comments', align: RIGHT },
        { head: 'authors', align: RIGHT },
        { head: 'last updated' },
      ],
      reports.mostDiscussedDocuments.map((row) => [
        shorten(row.organizationId, 30),
        shorten(row.documentId, 30),
        count(row.comments),
        count(row.authors),
        row.lastUpdated === null ? '' : time(row.lastUpdated),
      ]),
    ),
  )
  print(heading('The history of one comment (collab.comment_versions)'))
  print(
    table(
      [
        { head: 'version', align: RIGHT },
        { head: 'change' },
        { head: 'seen at' },
        { head: 'status' },
        { head: 'text' },
      ],
      reports.commentHistory.map((row) => [
        count(row.version),
        row.change,
        time(row.validFrom),
        row.status ?? '',
        shorten(row.commentText ?? '(none)', 60),
      ]),
    ),
  )
  print(heading('How fresh it is (reporting.freshness)'))
  print(
    table(
      [
        { head: 'level' },
        { head: 'checked', align: RIGHT },
        { head: 'never checked', align: RIGHT },
        { head: 'oldest check' },
      ],
      reports.freshness.map((row) => [
        row.level,
        count(row.checked),
        count(row.neverChecked),
        row.oldestCheck === null ? '' : time(row.oldestCheck),
      ]),
    ),
  )
}
