import type { Database } from '../core/database/pool.ts'
import { requireRunDetails } from '../client/runs.ts'
import { factsOfRun, statusOf } from '../schemas/columns.ts'
import { RUN_SUBJECTS, RUN_TIMES } from '../schemas/counts.ts'
import { sectionsOf } from '../schemas/sections.ts'
import type { Section } from '../schemas/sections.ts'
import { scopesDone, scopesInAll } from '../schemas/run.ts'
import type { Run, RunDetails } from '../schemas/run.ts'
import { count, describeCounts, duration, NO_WORKER, shortId } from '../schemas/format.ts'
import { printable } from '../base/printable.ts'
import { facts, harmless, heading, paint, painted, print, printJson, textOf } from './output.ts'
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
    ...sectionsOf(run).flatMap(linesOf),
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
  return RUN_SUBJECTS.map((of) => {
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

function linesOf({ title, list, lines = [], steps = [] }: Section): string[] {
  return [
    heading(title),
    ...(list === undefined ? [] : [list(table)]),
    ...lines.map((line) => `  ${harmless(textOf(line))}`),
    ...steps.flatMap(({ words, command }) =>
      command === undefined ? [] : [`  ${words}: collab-sync ${command}`],
    ),
  ]
}
