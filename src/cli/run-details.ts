import type { Database } from '../core/database/pool.ts'
import { requireRunDetails } from '../client/runs.ts'
import {
  ACTION_COLUMNS,
  CAUSE_COLUMNS,
  factsOfRun,
  HELD_COLUMNS,
  REJECTED_COLUMNS,
  statusOf,
} from '../schemas/columns.ts'
import { scopesDone, scopesInAll } from '../schemas/run.ts'
import type { Run, RunDetails } from '../schemas/run.ts'
import {
  count,
  counted,
  describeCounts,
  describeHeld,
  describeKept,
  describeRemoval,
  describeRejected,
  duration,
  listingName,
  NO_WORKER,
  nothingToRetry,
  RUN_COUNTS,
  RUN_TIMES,
  shortId,
} from '../schemas/format.ts'
import { printable } from '../base/printable.ts'
import { facts, heading, paint, painted, print, printJson } from './output.ts'
import { table } from './table.ts'

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

/** A run as a page: its state, its counts and open problems. */
export function describeRun(run: RunDetails): string {
  return [
    `Run ${paint.bold(shortId(run.runId))} ${painted(statusOf(run))}${howLong(run)}`,
    ...(run.problem === null ? [] : [`  ${paint.yellow(printable(run.problem))}`]),
    ...(run.resolvedBy === null ? [] : [`  Resolved by run ${shortId(run.resolvedBy)}.`]),
    ...run.waiting.map(({ sentence }) => `  ${paint.yellow(sentence)}`),
    '',
    facts([...factsOfRun(run), ...countsOf(run), ['time', timeOf(run)]]),
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

function failuresOf(run: RunDetails): string[] {
  if (run.failuresByCause.length === 0) return []
  const id = shortId(run.runId)
  return [
    heading('Failed scopes by cause'),
    table(CAUSE_COLUMNS, run.failuresByCause),
    `  List them: collab-sync status ${id} --failures`,
    ...(run.retriedBy.length === 0
      ? []
      : [`  Retried by run ${run.retriedBy.map(shortId).join(', ')}`]),
    run.failuresByState.failing > 0
      ? `  Retry the scopes that still fail: collab-sync run --failed-of ${id}`
      : `  ${nothingToRetry(run)}`,
  ]
}

function heldOf(run: RunDetails): string[] {
  if (run.held.listings === 0) return []
  return [
    heading(`Held removals: ${describeHeld(run.held)}`),
    table(HELD_COLUMNS, run.held.first),
    `  Remove these users: collab-sync accept ${shortId(run.runId)}. Keep them: collab-sync refuse ${shortId(run.runId)} --reason TEXT`,
  ]
}

function refusedOf({ refused: { first, ...counts } }: RunDetails): string[] {
  if (first.length === 0) return []
  const lines = first.map((one) => `  ${printable(`${listingName(one)}: ${describeRemoval(one)}`)}`)
  const more = counts.listings - first.length
  if (more > 0) lines.push(`  and ${counted(more, 'other listing')}`)
  return [heading(`Refused removals: ${describeKept(counts)}`), ...lines]
}

function actionsOf(run: RunDetails): string[] {
  const actions = run.actions.filter(({ action }) => action !== 'run_requested')
  return actions.length === 0 ? [] : [heading('Actions'), table(ACTION_COLUMNS, actions)]
}

function rejectedOf(run: RunDetails): string[] {
  if (run.rejectedRecords.length === 0) return []
  return [
    heading(`Rejected: ${describeRejected(run.recordsRejected, run.fieldsRejected)}`),
    table(REJECTED_COLUMNS, run.rejectedRecords),
    `  List all open ones: collab-sync rejected --run ${shortId(run.runId)}. Set them aside: collab-sync rejected set-aside ID --reason TEXT`,
  ]
}
