import type { Database } from './pool.ts'
import * as demo from './statements/demo.ts'

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
