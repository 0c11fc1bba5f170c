import type { Database } from './pool.ts'
import { sql } from './sql.ts'

/** A few questions that analysts ask, answered from `reporting` and `collab`. */
export interface DemoReports {
  readonly commentsPerDay: readonly {
    day: string
    comments: number
    authors: number
    annotations: number
  }[]
  readonly mostDiscussedDocuments: readonly {
    organizationId: string
    documentId: string
    comments: number
    authors: number
    lastUpdated: Date
  }[]
  /** Every version of one comment that was edited; empty where none ever was. */
  readonly commentHistory: readonly {
    version: number
    change: string
    validFrom: Date
    status: string | null
    commentText: string | null
  }[]
  readonly freshness: readonly {
    level: string
    checked: number
    neverChecked: number
    oldestCheck: Date | null
  }[]
}

export async function readDemoReports(database: Database): Promise<DemoReports> {
  const days = await database.query(sql('demo/comments-per-day'))
  const documents = await database.query(sql('demo/most-discussed-documents'))
  const history = await database.query(sql('demo/comment-history'))
  const freshness = await database.query(sql('demo/freshness'))
  return {
    commentsPerDay: days.rows,
    mostDiscussedDocuments: documents.rows.map((row) => ({
      organizationId: row.organization_id,
      documentId: row.document_id,
      comments: row.comments,
      authors: row.authors,
      lastUpdated: row.last_updated,
    })),
    commentHistory: history.rows.map((row) => ({
      version: row.version,
      change: row.change,
      validFrom: row.valid_from,
      status: row.status,
      commentText: row.comment_text,
    })),
    freshness: freshness.rows.map((row) => ({
      level: row.level,
      checked: row.checked,
      neverChecked: row.never_checked,
      oldestCheck: row.oldest_check,
    })),
  }
}
