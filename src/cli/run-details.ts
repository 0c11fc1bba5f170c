import type { Database } from '../database/pool.ts'
import {
  durationOf,
  readFailures,
  readRun,
  scopesDone,
  scopesInAll,
} from '../database/run-reports.ts'
import type { FailureReport, RunReport } from '../database/run-reports.ts'
import type { RowOf } from '../database/statement.ts'
import * as rejected from '../database/statements/rejected.ts'
import { readHeld } from '../database/waiting.ts'
import type { HeldReport } from '../database/waiting.ts'
import { UsageError } from '../errors.ts'
import { count, counted, duration, scopePath, shorten, shortId, time } from '../format.ts'
import { printable } from '../printable.ts'
import { describeScope } from '../documents/scope.ts'
import { facts, heading, paint, table } from './output.ts'

/** A run with all that a person or a program may want to know of it; the document that `--json` prints. */
export interface RunDetails extends RunReport {
  readonly durationMs: number
  readonly failuresByCause: readonly FailureReport[]
  readonly held: { readonly listings: number; readonly first: readonly HeldReport[] }
  readonly rejectedRecords: readonly RowOf<typeof rejected.firstOfRun>[]
}

const HELD_SHOWN = 10
const REJECTED_SHOWN = { limit: 10, mostCharacters: 200 }

/** @throws UsageError where the run is gone */
export async function readRunDetails(database: Database, runId: string): Promise<RunDetails> {
  const run = await readRun(database, runId)
  if (run === null) throw new UsageError(`There is no run ${runId}.`)
  return {
    ...run,
    durationMs: durationOf(run),
    failuresByCause: await readFailures(database, runId),
    held: await readHeld(database, runId, HELD_SHOWN),
    rejectedRecords:
      run.rejected > 0 ? await rejected.firstOfRun.all(database, { runId, ...REJECTED_SHOWN }) : [],
  }
}

/** A status in its colour. */
export function paintedStatus(status: RunReport['status']): string {
  return STATUS_PAINT[status](status)
}

/** One run as a page: what became of it, its counts, and what needs a person. */
export function describeRun(run: RunDetails): string {
  return [
    `Run ${paint.bold(shortId(run.runId))} ${paintedStatus(run.status)}${howLong(run)}`,
    ...(run.problem === null ? [] : [`  ${paint.yellow(printable(run.problem))}`]),
    '',
    facts([
      ['run', run.runId],
      ['asked for', `${time(run.requestedAt)} by ${run.trigger}: ${describeScope(run.scope)}`],
      ['scopes', scopesOf(run)],
      ['calls', callsOf(run)],
      ['comments', commentsOf(run)],
      ['users', `${count(run.usersWritten)} written`],
      ['records', recordsOf(run)],
      ['time', timeOf(run)],
    ]),
    ...failuresOf(run),
    ...heldOf(run),
    ...rejectedOf(run),
  ].join('\n')
}

const STATUS_PAINT: Record<RunReport['status'], (text: string) => string> = {
  queued: paint.cyan,
  running: paint.cyan,
  succeeded: paint.green,
  partial: paint.yellow,
  failed: paint.red,
  cancelled: paint.magenta,
}

function howLong(run: RunDetails): string {
  if (run.status === 'queued') return ` for ${duration(sinceAskedMs(run))}`
  return run.finishedAt === null
    ? ` for ${duration(run.durationMs)}`
    : ` after ${duration(run.durationMs)}`
}

function sinceAskedMs(run: RunReport): number {
  return run.readAt.getTime() - run.requestedAt.getTime()
}

function scopesOf(run: RunReport): string {
  const parts = [
    `${count(run.scopesSucceeded)} succeeded`,
    run.scopesFailed > 0 && paint.red(`${count(run.scopesFailed)} failed`),
    run.scopesHeld > 0 && paint.yellow(`${count(run.scopesHeld)} held`),
    run.scopesSkipped > 0 && `${count(run.scopesSkipped)} skipped`,
    run.finishedAt === null && `${count(scopesInAll(run) - scopesDone(run))} to go`,
  ].filter(Boolean)
  const places = [
    counted(run.organizationsDone, 'organization'),
    counted(run.documentsDone, 'document'),
    counted(run.groupsDone, 'group'),
    counted(run.annotationsDone, 'annotation'),
  ].join(', ')
  return `${count(scopesInAll(run))}: ${parts.join(', ')} (${places})`
}

function callsOf(run: RunDetails): string {
  const retries = run.retries > 0 ? `, ${count(run.retries)} of them tried again` : ''
  const rate =
    run.durationMs > 0 ? `, ${count(Math.round((run.calls / run.durationMs) * 1000))} a second` : ''
  return `${count(run.calls)}${retries}${rate}`
}

/** Where the time went. Calls and batches run side by side, so that the parts are longer than the run. */
function timeOf(run: RunReport): string {
  const parts = [
    `${duration(run.serviceMs)} waiting for the service`,
    `${duration(run.waitedMs)} waiting for the rate limit`,
    `${duration(run.databaseMs)} waiting for PostgreSQL`,
  ]
  return `${parts.join(', ')} (summed over what ran side by side); ${duration(run.cpuMs)} of CPU`
}

function commentsOf(run: RunReport): string {
  const deleted =
    run.commentsDeleted > 0
      ? `, ${count(run.commentsDeleted)} found deleted (the service confirmed each)`
      : ''
  return `${count(run.commentsWritten)} written${deleted}`
}

function recordsOf(run: RunReport): string {
  const rejected =
    run.recordsRejected > 0 ? `, ${paint.yellow(`${count(run.recordsRejected)} rejected`)}` : ''
  return `${count(run.recordsReceived)} received: ${count(run.recordsInserted)} new, ${count(run.recordsUpdated)} changed, ${count(run.recordsUnchanged)} unchanged${rejected}`
}

function failuresOf(run: RunDetails): string[] {
  if (run.failuresByCause.length === 0) return []
  const rows = run.failuresByCause.map((cause) => [
    count(cause.scopes),
    cause.operation,
    [cause.httpStatus, cause.errorStatus].filter((part) => part !== null).join(' ') || 'no answer',
    shorten(cause.errorMessage ?? '', 60),
    shorten(cause.examples.map(scopePath).join('; '), 60),
  ])
  const columns = [
    { head: 'scopes', align: 'right' as const },
    { head: 'operation' },
    { head: 'answer' },
    { head: 'message' },
    { head: 'such as' },
  ]
  return [
    heading('Failed scopes by cause'),
    table(columns, rows),
    `  Try just these again: collab-sync run --failed-of ${shortId(run.runId)}`,
  ]
}

function heldOf(run: RunDetails): string[] {
  if (run.held.listings === 0) return []
  return [
    heading('Held: listings that lack so many users that nobody was removed'),
    heldTable(run.held.first),
    `  If that is right, remove them: collab-sync accept ${shortId(run.runId)}`,
  ]
}

/** Held listings as a table. */
export function heldTable(held: readonly HeldReport[]): string {
  const columns = [
    { head: 'listing' },
    { head: 'users', align: 'right' as const },
    { head: 'missing', align: 'right' as const },
    { head: 'since' },
  ]
  return table(
    columns,
    held.map((one) => [
      shorten(
        `${one.kind} ${[one.organizationId, one.documentId, one.organizationUserGroupId].filter(Boolean).join(' / ')}`,
        60,
      ),
      count(one.usersBefore),
      count(one.usersMissing),
      time(one.at),
    ]),
  )
}

const REJECTED_COLUMNS = ['id', 'from', 'what', 'reason', 'as received'].map((head) => ({ head }))

function rejectedOf(run: RunDetails): string[] {
  if (run.rejectedRecords.length === 0) return []
  const rows = run.rejectedRecords.map((one) => [
    String(one.rejectedRecordId),
    shorten(scopePath(one), 50),
    one.setAsideAt !== null ? 'set aside' : one.isWhole ? 'whole record' : 'part of it',
    shorten(one.reason, 60),
    shorten(one.record, 40),
  ])
  const more = run.rejected - rows.length
  return [
    heading('Rejected records'),
    table(REJECTED_COLUMNS, rows),
    ...(more > 0
      ? [`  and ${count(more)} more: collab-sync rejected --run ${shortId(run.runId)}`]
      : []),
  ]
}
