import type { Database } from '../core/database/pool.ts'
import { readRunDetails } from '../client/run-reports.ts'
import type { Action } from '../documents/action.ts'
import type { HeldListing } from '../documents/waiting.ts'
import { scopesDone, scopesInAll } from '../documents/run.ts'
import type { Failure, FailureReport, Run, RunDetails } from '../documents/run.ts'
import { UsageError } from '../base/errors.ts'
import {
  count,
  describeAnswer,
  describeCounts,
  describeHeld,
  describeRequest,
  describeStates,
  duration,
  FAILURE_STATES,
  NO_WORKER,
  nothingToRetry,
  RUN_COUNTS,
  RUN_TIMES,
  scopePath,
  shorten,
  shortId,
  time,
} from '../documents/format.ts'
import { printable } from '../base/printable.ts'
import { facts, heading, paint, print, printJson } from './output.ts'
import { numberColumns, table } from './table.ts'

/** A run as it is. @throws UsageError where it is gone */
export async function requireRunDetails(database: Database, runId: string): Promise<RunDetails> {
  const run = await readRunDetails(database, runId)
  if (run === null) throw new UsageError(`There is no run ${runId}.`)
  return run
}

/**
 * Prints a run as it is: its document with `json`, else a page.
 * @param options.say prints the page; on stdout when left out
 * @returns the run
 * @throws UsageError where it is gone
 */
export async function printRun(
  database: Database,
  runId: string,
  { json, say = print }: { json?: boolean | undefined; say?: (page: string) => void },
): Promise<RunDetails> {
  const run = await requireRunDetails(database, runId)
  if (json) printJson(run)
  else say(describeRun(run))
  return run
}

/** A status in its colour. */
export function paintedStatus(status: Run['status']): string {
  return STATUS_PAINT[status](status)
}

/** One run as a page: what became of it, its counts, and what needs a person. */
export function describeRun(run: RunDetails): string {
  return [
    `Run ${paint.bold(shortId(run.runId))} ${paintedStatus(run.status)}${howLong(run)}`,
    ...(run.problem === null ? [] : [`  ${paint.yellow(printable(run.problem))}`]),
    ...run.waiting.map(({ sentence }) => `  ${paint.yellow(sentence)}`),
    '',
    facts([
      ['run', run.runId],
      [
        'asked for',
        `${time(run.requestedAt)} by ${run.requestedBy ?? run.trigger}: ${describeRequest(run)}`,
      ],
      ...countsOf(run),
      ['time', timeOf(run)],
    ]),
    ...failuresOf(run),
    ...heldOf(run),
    ...actionsOf(run),
    ...rejectedOf(run),
    ...(run.workersGone ? ['', `  ${paint.yellow(LEFT_ALONE)}`] : []),
  ].join('\n')
}

/** What to do about a run that nobody can be working on. */
export const LEFT_ALONE = `${NO_WORKER} To end it: collab-sync cancel RUN.`

const STATUS_PAINT: Record<Run['status'], (text: string) => string> = {
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

function sinceAskedMs(run: Run): number {
  return run.readAt.getTime() - run.requestedAt.getTime()
}

/** Counts that are shown in a colour where they are not 0. */
const COUNT_PAINT: Readonly<Record<string, (text: string) => string>> = {
  scopesFailed: paint.red,
  scopesHeld: paint.yellow,
  recordsRejected: paint.yellow,
}

/** The counts of a run, a line for each kind. */
function countsOf(run: Run): (readonly [string, string])[] {
  return (Object.keys(RUN_COUNTS) as (keyof typeof RUN_COUNTS)[]).map((of) => {
    const mark = (text: string, name: string) => COUNT_PAINT[name]?.(text) ?? text
    const total = of === 'scopes' ? `${count(scopesDone(run))} of ${count(scopesInAll(run))}: ` : ''
    return [of, total + describeCounts(run, of, mark)]
  })
}

function timeOf(run: Run): string {
  const parts = RUN_TIMES.flatMap(([words, name]) =>
    run[name] > 0 ? [`${duration(run[name])} ${words}`] : [],
  )
  return `${parts.join(', ')} (added up over what ran side by side)`
}

/** More than a message of ours is long. */
const MESSAGE_MAX = 600

const FAILURE_COLUMNS = [
  'operation',
  { head: 'answer', width: 30 },
  { head: 'message', width: 60 },
  'since',
]

function failuresOf(run: RunDetails): string[] {
  if (run.failuresByCause.length === 0) return []
  const rows = run.failuresByCause.map((cause) => [
    count(cause.scopes),
    cause.operation,
    describeAnswer(cause),
    shorten(cause.errorMessage ?? '', MESSAGE_MAX),
    sinceOf(cause),
    shorten(cause.examples.map(scopePath).join('; '), 60),
  ])
  const columns = [...numberColumns('scopes'), ...FAILURE_COLUMNS, 'such as']
  const id = shortId(run.runId)
  return [
    heading('Failed scopes by cause'),
    table(columns, rows),
    `  See each of them: collab-sync status ${id} --failures`,
    ...(run.retriedBy.length === 0
      ? []
      : [`  Retried by run ${run.retriedBy.map(shortId).join(', ')}`]),
    run.failuresByState.failing > 0
      ? `  Retry what still fails: collab-sync run --failed-of ${id}`
      : `  ${nothingToRetry(run)}`,
  ]
}

function sinceOf({ resolvedBy, ...states }: FailureReport): string {
  const by = resolvedBy.length === 0 ? '' : ` (by run ${resolvedBy.map(shortId).join(', ')})`
  return describeStates(states) + by
}

/** Failures of a run as a table. */
export function failuresTable(failures: readonly Failure[]): string {
  return table(
    ['scope', ...FAILURE_COLUMNS],
    failures.map((failure) => [
      shorten(scopePath(failure), 60),
      failure.operation,
      describeAnswer(failure),
      shorten(failure.errorMessage ?? '', MESSAGE_MAX),
      `${FAILURE_STATES[failure.state]}${failure.resolvedBy === null ? '' : ` by run ${shortId(failure.resolvedBy)}`}`,
    ]),
  )
}

function heldOf(run: RunDetails): string[] {
  if (run.held.listings === 0) return []
  return [
    heading(`Held: ${describeHeld(run.held.listings)}`),
    heldTable(run.held.first),
    `  If that is right, remove them: collab-sync accept ${shortId(run.runId)}; if not: collab-sync refuse ${shortId(run.runId)} --reason TEXT`,
  ]
}

/** Held listings as a table. */
export function heldTable(held: readonly HeldListing[]): string {
  return table(
    [...numberColumns('id'), 'listing', ...numberColumns('users', 'missing'), 'since'],
    held.map((one) => [
      String(one.heldId),
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

/** What users did to a run, but for its request. */
function actionsOf(run: RunDetails): string[] {
  const actions = run.actions.filter(({ action }) => action !== 'run_requested')
  return actions.length === 0 ? [] : [heading('Actions'), actionsTable(actions)]
}

const ACTION_COLUMNS = ['at', 'by', 'action', 'of', 'reason', 'run']

/** What users and programs did, as a table. */
export function actionsTable(actions: readonly Action[]): string {
  const rows = actions.map(({ at, by, action, target, reason, runId }) => [
    time(at),
    shorten(by, 30),
    action.replaceAll('_', ' '),
    shorten(target ?? '', 60),
    shorten(reason ?? '', 60),
    runId === null ? '' : shortId(runId),
  ])
  return table(ACTION_COLUMNS, rows)
}

const REJECTED_COLUMNS = ['id', 'from', 'what', 'reason', 'as received']

function rejectedOf(run: RunDetails): string[] {
  if (run.rejectedRecords.length === 0) return []
  const rows = run.rejectedRecords.map((one) => [
    String(one.rejectedRecordId),
    shorten(scopePath(one), 50),
    one.setAsideAt !== null ? 'set aside' : one.isWhole ? 'whole record' : 'part of it',
    shorten(one.reason, 60),
    shorten(one.record, 40),
  ])
  return [
    heading('Rejected records'),
    table(REJECTED_COLUMNS, rows),
    `  See all that are open: collab-sync rejected --run ${shortId(run.runId)}. Set them aside: collab-sync rejected set-aside ID --reason TEXT`,
  ]
}
