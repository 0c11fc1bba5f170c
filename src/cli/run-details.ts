import type { Database } from '../core/database/pool.ts'
import { requireRunDetails } from '../client/runs.ts'
import type { Action } from '../documents/action.ts'
import type { HeldListing, RejectedRecord } from '../documents/waiting.ts'
import { scopesDone, scopesInAll } from '../documents/run.ts'
import type { Failure, FailureReport, Run, RunDetails } from '../documents/run.ts'
import {
  count,
  counted,
  describeFailure,
  describeCounts,
  describeHeld,
  describeKept,
  describeRemoval,
  describeRejected,
  describeRequest,
  describeStates,
  describeStatus,
  duration,
  FAILURE_STATES,
  NO_WORKER,
  nothingToRetry,
  rejectedNoun,
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

/**
 * Reads a run and prints it as JSON or as a page.
 * @param options.say prints the page; on stdout if omitted
 * @throws UsageError if there is no such run
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

/** The status of a run in its colour. */
export function paintedStatus(run: Pick<Run, 'status' | 'stopping'>): string {
  return STATUS_PAINT[run.status](describeStatus(run))
}

/** A run as a page: its state, its counts and open problems. */
export function describeRun(run: RunDetails): string {
  return [
    `Run ${paint.bold(shortId(run.runId))} ${paintedStatus(run)}${howLong(run)}`,
    ...(run.problem === null ? [] : [`  ${paint.yellow(printable(run.problem))}`]),
    ...(run.resolvedBy === null ? [] : [`  Resolved by run ${shortId(run.resolvedBy)}.`]),
    ...run.waiting.map(({ sentence }) => `  ${paint.yellow(sentence)}`),
    '',
    facts([
      ['run', run.runId],
      [
        'requested',
        `${time(run.requestedAt)} by ${run.requestedBy ?? run.trigger}: ${describeRequest(run)}`,
      ],
      ...countsOf(run),
      ['time', timeOf(run)],
    ]),
    ...failuresOf(run),
    ...heldOf(run),
    ...refusedOf(run),
    ...actionsOf(run),
    ...rejectedOf(run),
    ...(run.workersGone ? ['', `  ${paint.yellow(leftAlone([run]))}`] : []),
  ].join('\n')
}

/** Shown for runs in progress while no worker is alive. */
export function leftAlone(runs: readonly Pick<Run, 'runId'>[]): string {
  const commands = runs.map(({ runId }) => `collab-sync cancel ${shortId(runId)}`)
  return `${NO_WORKER} To end it: ${commands.join(', ')}`
}

const STATUS_PAINT: Record<Run['status'], (text: string) => string> = {
  queued: paint.cyan,
  running: paint.cyan,
  succeeded: paint.green,
  partial: paint.yellow,
  failed: paint.red,
  cancelled: paint.magenta,
}

function howLong(run: RunDetails): string {
  const queuedMs = run.readAt.getTime() - run.requestedAt.getTime()
  const ms = run.status === 'queued' ? queuedMs : run.durationMs
  return ` ${run.finishedAt === null ? 'for' : 'after'} ${duration(ms)}`
}

/** Colours of counts that are not 0. */
const COUNT_PAINT: Readonly<Record<string, (text: string) => string>> = {
  scopesFailed: paint.red,
  scopesHeld: paint.yellow,
  recordsRejected: paint.yellow,
}

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
  return parts.length === 0 ? 'none' : `${parts.join(', ')} (sums over parallel calls and batches)`
}

/** Longer than the messages of collab-sync. */
const MESSAGE_MAX = 600

const FAILURE_COLUMNS = [
  'operation',
  { head: 'response', width: 30 },
  { head: 'message', width: 60 },
  'state now',
]

function failuresOf(run: RunDetails): string[] {
  if (run.failuresByCause.length === 0) return []
  const rows = run.failuresByCause.map((cause) => [
    count(cause.scopes),
    cause.operation,
    describeFailure(cause),
    shorten(cause.errorMessage ?? '', MESSAGE_MAX),
    stateOf(cause),
    shorten(cause.examples.map(scopePath).join('; '), 60),
  ])
  const columns = [...numberColumns('scopes'), ...FAILURE_COLUMNS, 'such as']
  const id = shortId(run.runId)
  return [
    heading('Failed scopes by cause'),
    table(columns, rows),
    `  List them: collab-sync status ${id} --failures`,
    ...(run.retriedBy.length === 0
      ? []
      : [`  Retried by run ${run.retriedBy.map(shortId).join(', ')}`]),
    run.failuresByState.failing > 0
      ? `  Retry the scopes that still fail: collab-sync run --failed-of ${id}`
      : `  ${nothingToRetry(run)}`,
  ]
}

function stateOf({ resolvedBy, ...states }: FailureReport): string {
  const by = resolvedBy.length === 0 ? '' : ` (by run ${resolvedBy.map(shortId).join(', ')})`
  return describeStates(states) + by
}

/** A table of failures. */
export function failuresTable(failures: readonly Failure[]): string {
  return table(
    ['scope', ...FAILURE_COLUMNS],
    failures.map((failure) => [
      shorten(scopePath(failure), 60),
      failure.operation,
      describeFailure(failure),
      shorten(failure.errorMessage ?? '', MESSAGE_MAX),
      `${FAILURE_STATES[failure.state]}${failure.resolvedBy === null ? '' : ` by run ${shortId(failure.resolvedBy)}`}`,
    ]),
  )
}

function heldOf(run: RunDetails): string[] {
  if (run.held.listings === 0) return []
  return [
    heading(`Held removals: ${describeHeld(run.held)}`),
    heldTable(run.held.first),
    `  Remove these users: collab-sync accept ${shortId(run.runId)}. Keep them: collab-sync refuse ${shortId(run.runId)} --reason TEXT`,
  ]
}

/** A table of held listings. */
export function heldTable(held: readonly HeldListing[]): string {
  return table(
    [...numberColumns('id'), 'listing', ...numberColumns('users', 'returned', 'missing'), 'since'],
    held.map((one) => [
      String(one.heldId),
      listingName(one),
      count(one.usersBefore),
      count(one.usersReturned),
      count(one.usersMissing),
      time(one.at),
    ]),
  )
}

function listingName({ kind, ...ids }: HeldListing): string {
  const path = [ids.organizationId, ids.documentId, ids.organizationUserGroupId].filter(Boolean)
  return shorten(`${kind} ${path.join(' / ')}`, 60)
}

function refusedOf({ refused: { first, ...counts } }: RunDetails): string[] {
  if (first.length === 0) return []
  const lines = first.map((one) => `  ${listingName(one)}: ${printable(describeRemoval(one))}`)
  const more = counts.listings - first.length
  if (more > 0) lines.push(`  and ${counted(more, 'other listing')}`)
  return [heading(`Refused removals: ${describeKept(counts)}`), ...lines]
}

function actionsOf(run: RunDetails): string[] {
  const actions = run.actions.filter(({ action }) => action !== 'run_requested')
  return actions.length === 0 ? [] : [heading('Actions'), actionsTable(actions)]
}

const ACTION_COLUMNS = ['at', 'by', 'action', 'of', 'reason', 'run']

/** A table of actions. */
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

function rejectedOf(run: RunDetails): string[] {
  if (run.rejectedRecords.length === 0) return []
  return [
    heading(`Rejected: ${describeRejected(run.recordsRejected, run.fieldsRejected)}`),
    rejectedTable(run.rejectedRecords),
    `  List all open ones: collab-sync rejected --run ${shortId(run.runId)}. Set them aside: collab-sync rejected set-aside ID --reason TEXT`,
  ]
}

const REJECTED_COLUMNS = ['id', 'at', 'from', 'rejected', 'reason', 'as received']

/** A table of rejected records. */
export function rejectedTable(records: readonly RejectedRecord[]): string {
  const rows = records.map((record) => [
    String(record.rejectedRecordId),
    time(record.at),
    shorten(scopePath(record), 40),
    rejectedNoun(record) + (record.setAsideAt === null ? '' : ', set aside'),
    shorten(record.setAsideReason ?? record.reason, 50),
    shorten(record.record, 40),
  ])
  return table(REJECTED_COLUMNS, rows)
}
