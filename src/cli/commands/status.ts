import { readFreshness } from '../../client/freshness.ts'
import { listFailures, listRunChanges } from '../../client/listings.ts'
import { readProcesses } from '../../client/processes.ts'
import { readSchedule } from '../../client/schedule.ts'
import { DEAD_AFTER_S } from '../../core/database/claims.ts'
import { readPace } from '../../core/rate-limit/pace.ts'
import type { Database } from '../../core/database/pool.ts'
import { readRuns, readWaits } from '../../client/run-reports.ts'
import * as observed from '../../core/database/statements/observed.ts'
import * as workersOf from '../../core/database/statements/workers.ts'
import { readAttention } from '../../client/waiting.ts'
import {
  FAILURE_COLUMNS,
  organizationsOf,
  RUN_CHANGE_COLUMNS,
  RUN_COLUMNS,
  URGENCY_TONES,
} from '../../schemas/columns.ts'
import type { AttentionByKind } from '../../schemas/attention.ts'
import { factsOfChanges } from '../../schemas/sections.ts'
import { describeMemberChange } from '../../schemas/member-change.ts'
import {
  mixedVersions,
  PROCESS_COLUMNS,
  SETTING_COLUMNS,
  sharedSettingsOf,
} from '../../schemas/process.ts'
import { UsageError } from '../../base/errors.ts'
import {
  count,
  counted,
  describeStale,
  duration,
  notesOfChanges,
  shortId,
  time,
} from '../../schemas/format.ts'
import { printable } from '../../base/printable.ts'
import type { Settings } from '../../settings/table.ts'
import { facts, heading, paint, painted, print, printJson, textOf } from '../output.ts'
import { table } from '../table.ts'
import { leftAlone, printRun } from '../run-details.ts'
import { refreshLines } from '../refresh-details.ts'
import { findRun } from '../requested-scope.ts'
import { withTables } from '../with-store.ts'

type Overview = Awaited<ReturnType<typeof readOverview>>

const MEMBER_CHANGES_SHOWN = 10

interface StatusOptions {
  json?: boolean
  limit?: number
  demo?: boolean
  failures?: boolean
  changes?: boolean
  workers?: boolean
  cursor?: string
}

/** `collab-sync status [RUN]`: recent runs and open problems, or one run, or a page of its failures or changes. */
export async function status(text: string | undefined, options: StatusOptions): Promise<number> {
  const list = options.failures ? '--failures' : options.changes ? '--changes' : null
  if (list !== null && text === undefined) throw new UsageError(`${list} needs a RUN.`)
  if (options.cursor !== undefined && list === null)
    throw new UsageError('--cursor needs --failures or --changes.')
  if (options.workers && text !== undefined) throw new UsageError('--workers is of no RUN.')
  const command = { name: 'status', demo: options.demo }
  return withTables(command, async ({ database }, { settings }) => {
    if (options.workers) await printWorkers(database, options)
    else if (text === undefined) {
      const overview = await readOverview(database, settings, options.limit ?? 10)
      if (options.json) printJson(overview)
      else print(describe(overview))
    } else if (options.failures)
      await printFailures(database, await findRun(database, text), options)
    else if (options.changes) await printChanges(database, await findRun(database, text), options)
    else await printRun(database, await findRun(database, text), { json: options.json })
  })
}

async function printFailures(
  database: Database,
  runId: string,
  { json, limit, cursor }: StatusOptions,
): Promise<void> {
  const page = await listFailures({ database }, { runId, limit, cursor })
  if (json) return printJson(page)
  if (page.items.length === 0) return print(`Nothing failed in run ${runId}.`)
  print(table(FAILURE_COLUMNS, page.items))
  printNext(`${shortId(runId)} --failures`, page)
}

async function printChanges(
  database: Database,
  runId: string,
  { json, limit, cursor }: StatusOptions,
): Promise<void> {
  const page = await listRunChanges({ database }, { runId, limit, cursor })
  if (page === null) throw new UsageError(`There is no run ${runId}.`)
  if (json) return printJson(page)
  if (page.counts.length > 0) print(facts(factsOfChanges(runId, page)))
  for (const note of notesOfChanges(page)) print(`  ${note}`)
  if (page.items.length > 0) print(`\n${table(RUN_CHANGE_COLUMNS, page.items)}`)
  printNext(`${shortId(runId)} --changes`, page)
}

async function printWorkers(database: Database, { json }: StatusOptions): Promise<void> {
  const processes = await readProcesses(database)
  if (json) return printJson({ items: processes })
  if (processes.length === 0) return print('No process is running.')
  const versions = mixedVersions(processes)
  if (versions.length > 0)
    print(paint.yellow(`Processes have different versions: ${versions.join(', ')}.\n`))
  print(table(PROCESS_COLUMNS, processes))
  print(`${heading('Settings')}\n${table(SETTING_COLUMNS, sharedSettingsOf(processes))}`)
}

function printNext(args: string, { nextCursor }: { nextCursor: string | null }): void {
  if (nextCursor !== null) print(`  Next page: collab-sync status ${args} --cursor ${nextCursor}`)
}

async function readOverview(database: Database, settings: Settings, limit: number) {
  const [runs, workers, waiting, attention, memberChanges, freshness, schedule, pace] =
    await Promise.all([
      readRuns(database, null, limit),
      workersOf.read.all(database, { deadAfterS: DEAD_AFTER_S }),
      readWaits(database, null),
      readAttention(database),
      observed.recent.all(database, { limit: MEMBER_CHANGES_SHOWN }),
      readFreshness(database),
      readSchedule({ database, settings }),
      readPace(database),
    ])
  const readAt = new Date()
  return { readAt, runs, workers, waiting, attention, memberChanges, freshness, schedule, pace }
}

function describe(overview: Overview): string {
  const { attention, freshness, memberChanges, pace, runs } = overview
  const { cron, next, timeZone } = overview.schedule
  const leftRuns = runs.filter(({ workersGone }) => workersGone)
  return [
    facts([
      ['catalog', describeFreshness(overview)],
      [
        'nightly',
        next === null ? 'none scheduled' : `next at ${time(next)} (${cron}, ${timeZone})`,
      ],
      ['pace', pace.callsPerSecond === null ? null : `${pace.callsPerSecond} calls a second`],
      ['workers', describeWorkers(overview)],
    ]),
    ...overview.waiting.map(({ sentence }) => `  ${sentence}`),
    ...(freshness.refresh === null ? [] : refreshLines(freshness.refresh)),
    ...(attention.length === 0 ? [] : [heading('Needs attention'), ...attention.flatMap(linesOf)]),
    heading('Runs'),
    runs.length === 0 ? '  None yet. Start one with: collab-sync run' : table(RUN_COLUMNS, runs),
    ...(leftRuns.length > 0 ? [`  ${paint.yellow(leftAlone(leftRuns))}`] : []),
    ...(memberChanges.length === 0
      ? []
      : [
          heading('Changes in the structure of records within a week'),
          ...memberChanges.map(
            (each) => `  ${time(each.noticedAt)}: ${printable(describeMemberChange(each))}`,
          ),
        ]),
  ].join('\n')
}

function linesOf(row: AttentionByKind): string[] {
  const { urgency, sentence, since, organizations, words, fix } = row
  return [
    `  ${painted({ tone: URGENCY_TONES[urgency], text: printable(sentence) })}`,
    ...(since === null ? [] : [`    since ${time(since)}`]),
    ...(organizations > 1 ? [`    ${textOf(organizationsOf(row))}`] : []),
    ...(words === null ? [] : [`    ${printable(words)}`]),
    `    ${fix}`,
  ]
}

function describeFreshness({ freshness, readAt }: Overview): string {
  const { scopes, annotations, failing, stale, oldestCheck } = freshness
  if (scopes === 0) return 'empty'
  const size = `${counted(scopes, 'scope')} (${counted(annotations, 'annotation')})`
  const paintStale = failing > 0 ? paint.red : paint.yellow
  const parts = stale > 0 ? [paintStale(`${count(stale)} stale (${describeStale(freshness)})`)] : []
  const age =
    oldestCheck === null
      ? 'none checked yet'
      : `checked within the last ${duration(readAt.getTime() - oldestCheck.getTime())}`
  return [size, age, ...parts].join(', ')
}

function describeWorkers({ workers }: Overview): string {
  const alive = workers.filter((worker) => worker.alive)
  const frozen = workers
    .filter((worker) => worker.holdsTransaction)
    .map(({ workerId }) =>
      paint.yellow(`${workerId} has no heartbeat and an open transaction: resume or end it`),
    )
  if (alive.length === 0) return ['none running', ...frozen].join('; ')
  const inFlight = alive.reduce((sum, worker) => sum + worker.callsInFlight, 0)
  const limit = alive.reduce((sum, worker) => sum + worker.callsLimit, 0)
  const latencies = alive.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]))
  const latency =
    latencies.length === 0 ? '' : `, ${duration(Math.max(...latencies))} per call at the slowest`
  const living = `${count(alive.length)} running: ${counted(inFlight, 'call')} in flight of at most ${count(limit)}${latency}`
  return [living, ...frozen].join('; ')
}
