import type { Operation } from '../errors.ts'
import type { Database } from './pool.ts'
import { inCamelCase } from './run-reports.ts'
import type { ScopeIds } from './run-reports.ts'
import { sql } from './sql.ts'

/** One scope of a run that gave no usable answer. */
export interface Failure extends ScopeIds {
  readonly failureId: number
  readonly runId: string
  readonly at: Date
  readonly operation: Operation
  readonly httpStatus: number | null
  readonly errorStatus: string | null
  readonly errorMessage: string | null
  readonly attempts: number
}

/** A record, or a member of one, that could not be stored. */
export interface RejectedRecord extends ScopeIds {
  readonly rejectedRecordId: number
  readonly runId: string
  readonly at: Date
  readonly operation: Operation
  readonly reason: string
  /** JSON text as received, cut after 2,000 characters. */
  readonly record: string
  readonly isCut: boolean
  /** True where nothing of it is stored. */
  readonly isWhole: boolean
  /** When a person set it aside, who, and why; null while it is open. */
  readonly setAsideAt: Date | null
  readonly setAsideBy: string | null
  readonly setAsideReason: string | null
}

const RECORD_CHARACTERS = 2000

/**
 * A page of failures, the newest first.
 * @param page.after id of the last one of the page before; null for the first page
 */
export async function pageFailures(
  database: Database,
  page: { runId: string | null; organizationId: string | null; after: number | null; max: number },
): Promise<Failure[]> {
  const { runId, organizationId, after, max } = page
  const { rows } = await database.query(sql('failures/page'), [runId, organizationId, after, max])
  return rows.map((row) => inCamelCase<Failure>(row))
}

/**
 * A page of what could not be stored and was not stored after all, the newest first; `after` as in pageFailures.
 * @param page.setAside what a person set aside in place of what is open
 */
export async function listRejected(
  database: Database,
  page: { runId: string | null; setAside: boolean; after: number | null; max: number },
): Promise<RejectedRecord[]> {
  const { runId, setAside, after, max } = page
  const values = [runId, after, max, RECORD_CHARACTERS, setAside]
  const { rows } = await database.query(sql('rejected/list'), values)
  return rows.map((row) => inCamelCase<RejectedRecord>(row))
}
