import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { DEAD_AFTER_S } from '../../core/database/claims.ts'
import type { Database } from '../../core/database/pool.ts'
import * as attention from '../../core/database/statements/attention.ts'
import * as scopes from '../../core/database/statements/scopes.ts'
import * as telemetry from '../../core/database/statements/telemetry.ts'
import type { JobQueue } from '../../core/queue/queue.ts'
import { nextNightly } from '../../core/queue/schedule.ts'
import { ATTENTION_KINDS } from '../../documents/attention.ts'
import { RunSchema } from '../../documents/run.ts'

/** What metrics tell of PostgreSQL: five statements, one after the other, because a scrape takes one connection. */
export async function readSignals(database: Database) {
  return {
    totals: await telemetry.runTotals.all(database),
    lastRuns: await telemetry.lastRuns.all(database),
    state: await telemetry.state.one(database, { deadAfterS: DEAD_AFTER_S }),
    freshness: await scopes.freshness.one(database),
    attention: await attention.byKind.all(database),
  }
}

/** What metrics tell of the queue: jobs by BullMQ's names of states; no `nextNightly` where no schedule is registered. */
export async function readQueue(queue: JobQueue) {
  const states = ['waiting', 'prioritized', 'active', 'delayed', 'failed'] as const
  const { requests, everything } = queue.bull
  const [some, others, next] = await Promise.all([
    requests.getJobCounts(...states),
    everything.getJobCounts(...states),
    nextNightly(queue),
  ])
  const jobs = Object.fromEntries(
    states.map((state) => [state, (some[state] ?? 0) + (others[state] ?? 0)]),
  )
  return { jobs, nextNightly: next }
}

type StoredSignals = Awaited<ReturnType<typeof readSignals>>
type QueueSignals = Awaited<ReturnType<typeof readQueue>>

/** What `serve` tells at one moment; null is what could not be read. */
export interface ServiceSignals {
  readonly stored: StoredSignals | null
  readonly queue: QueueSignals | null
}

type Labels = Readonly<Record<string, string>>
/** What a gauge shows: one number, or one for each set of labels. A null is left out. */
type Reading = number | null | readonly (readonly [Labels, number | null])[]
type GaugeRow = readonly [name: string, help: string, reading: Reading]

/** Outcomes as the names of counts have them (`scopesFailed`); the label `outcome` has them in lower case. */
export const SCOPE_OUTCOMES = ['Succeeded', 'Failed', 'Held'] as const
export const RECORD_OUTCOMES = ['Inserted', 'Updated', 'Unchanged', 'Rejected', 'Null'] as const
/** Counts of rows, by their labels. */
export const ROW_COUNTS = [
  [{ table: 'users', outcome: 'written' }, 'usersWritten'],
  [{ table: 'comments', outcome: 'written' }, 'commentsWritten'],
  [{ table: 'comments', outcome: 'deleted' }, 'commentsDeleted'],
  [{ table: 'rejected_records', outcome: 'written' }, 'rejected'],
] as const
/** A run has these too; a commit knows of no skipped scope. */
const RUN_SCOPE_OUTCOMES = [...SCOPE_OUTCOMES, 'Skipped'] as const
const TRIGGERS = RunSchema.shape.trigger.options
const STATUSES = RunSchema.shape.status.options
const SETTLED = STATUSES.filter((status) => status !== 'queued' && status !== 'running')

/**
 * These signals as metrics. All are gauges, sums over `sync.runs` too: `prune` takes runs away, and a counter that falls
 * would be read as one that began anew. The counters are those of the workers.
 */
export function serviceRegistry({ stored, queue }: ServiceSignals): Registry {
  const registry = new Registry()
  const rows: readonly GaugeRow[] = [
    ['database_up', 'Whether PostgreSQL answers (1) or not (0).', stored ? 1 : 0],
    ['queue_up', 'Whether the queue answers (1) or not (0).', queue ? 1 : 0],
    ...(stored ? [...totalRows(stored), ...lastRunRows(stored), ...presentRows(stored)] : []),
    ...(queue ? queueRows(queue) : []),
  ]
  for (const [name, help, reading] of rows) {
    const all = typeof reading === 'number' || reading === null ? [[{}, reading] as const] : reading
    const known = all.flatMap(([labels, value]) => (value === null ? [] : [{ labels, value }]))
    if (known.length === 0) continue
    const labelNames = Object.keys(known[0]?.labels ?? {})
    const gauge = new Gauge({
      name: `collab_sync_${name}`,
      help,
      labelNames,
      registers: [registry],
    })
    for (const { labels, value } of known) gauge.set(labels, value)
  }
  return registry
}

function totalRows({ totals }: StoredSignals): GaugeRow[] {
  const runsOf = (trigger: string, status: string) =>
    totals.find((row) => row.trigger === trigger && row.status === status)?.runs ?? 0
  const sum = (column: Exclude<keyof (typeof totals)[number], 'trigger' | 'status'>) =>
    totals.reduce((before, row) => before + row[column], 0)
  return [
    [
      'runs',
      'Runs in sync.runs.',
      TRIGGERS.flatMap((trigger) =>
        STATUSES.map((status) => [{ trigger, status }, runsOf(trigger, status)] as const),
      ),
    ],
    ['runs_calls', 'Calls of the settled runs in sync.runs.', sum('calls')],
    ['runs_retries', 'Of those calls, further tries.', sum('retries')],
    [
      'runs_scopes',
      'Scopes of the settled runs in sync.runs, by outcome.',
      RUN_SCOPE_OUTCOMES.map((name) => [{ outcome: name.toLowerCase() }, sum(`scopes${name}`)]),
    ],
    [
      'runs_records',
      'Records that the settled runs in sync.runs received, by outcome.',
      RECORD_OUTCOMES.map((name) => [{ outcome: name.toLowerCase() }, sum(`records${name}`)]),
    ],
    [
      'runs_rows',
      'Rows that the settled runs in sync.runs wrote, by table and outcome.',
      ROW_COUNTS.map(([labels, column]) => [labels, sum(column)]),
    ],
  ]
}

function lastRunRows({ lastRuns }: StoredSignals): GaugeRow[] {
  const each = (column: Exclude<keyof (typeof lastRuns)[number], 'trigger' | 'status'>) =>
    lastRuns.map(({ trigger, [column]: value }) => [{ trigger }, value] as const)
  const rows: GaugeRow[] = [
    ['requested_timestamp_seconds', 'When the last settled run was asked for.', each('requestedS')],
    ['finished_timestamp_seconds', 'When the last settled run ended.', each('finishedS')],
    ['duration_seconds', 'What the last settled run took.', each('durationS')],
    ['calls', 'Calls of the last settled run.', each('calls')],
    ['retries', 'Of those calls, further tries.', each('retries')],
    [
      'rejected',
      'Records, or members of records, that the last settled run rejected.',
      each('rejected'),
    ],
    [
      'status',
      'What became of the last settled run: 1 for its status, 0 for the others.',
      lastRuns.flatMap(({ trigger, status: actual }) =>
        SETTLED.map((status) => [{ trigger, status }, status === actual ? 1 : 0] as const),
      ),
    ],
    [
      'scopes',
      'Scopes of the last settled run, by outcome.',
      lastRuns.flatMap(({ trigger, ...run }) =>
        RUN_SCOPE_OUTCOMES.map(
          (name) => [{ trigger, outcome: name.toLowerCase() }, run[`scopes${name}`]] as const,
        ),
      ),
    ],
  ]
  return rows.map(([name, ...rest]) => [`last_run_${name}`, ...rest])
}

function presentRows({ freshness, state, attention: needs }: StoredSignals): GaugeRow[] {
  const { promiseS, scopes: all, neverChecked, failing, stale, overdue } = freshness
  const ageS = (at: Date | null) => at && Math.max(0, Date.now() - at.getTime()) / 1000
  // Kinds without a row are 0, so that a rule can compare a kind with its past.
  const countOf = (kind: string) => needs.find((row) => row.kind === kind)?.count ?? 0
  return [
    ['freshness_promise_seconds', 'FRESHNESS_PROMISE: how old what is stored may get.', promiseS],
    ['catalog_scopes', 'Scopes of the catalog.', all],
    ['catalog_scopes_never_checked', 'Of them, those never checked well.', neverChecked],
    ['catalog_scopes_failing', 'Of them, those whose last try failed.', failing],
    ['catalog_scopes_stale', 'Of them, those that are failing, not checked or too old.', stale],
    ['catalog_scopes_overdue', 'Of them, those not checked well within the promise.', overdue],
    ['oldest_check_age_seconds', 'Age of the oldest last good check.', ageS(freshness.oldestCheck)],
    ['newest_check_age_seconds', 'Age of the newest last good check.', ageS(freshness.newestCheck)],
    ['workers_alive', 'Workers with a heartbeat in the last 30 seconds.', state.workers],
    ['workers_calls_in_flight', 'Calls that they have in flight.', state.callsInFlight],
    [
      'workers_calls_in_flight_limit',
      'Most calls that they may have in flight at present.',
      state.callsLimit,
    ],
    [
      'open_run_age_seconds',
      'Age of the oldest run under way; 0 for none.',
      state.openRunAgeS ?? 0,
    ],
    [
      'attention',
      'What needs a person now, by kind, as in sync.attention: scopes, listings, records, workers or settings; 0 for nothing.',
      ATTENTION_KINDS.map((kind) => [{ kind }, countOf(kind)]),
    ],
  ]
}

function queueRows({ jobs, nextNightly: next }: QueueSignals): GaugeRow[] {
  return [
    [
      'queue_jobs',
      'Jobs in the queue; the next nightly one counts as delayed.',
      Object.entries(jobs).map(([state, count]) => [{ state }, count]),
    ],
    [
      'next_nightly_timestamp_seconds',
      'When the next nightly run is due.',
      next && next.getTime() / 1000,
    ],
  ]
}

/** Adds this process's CPU, memory, event loop and garbage collection. */
export function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
  for (const name of MALFORMED) registry.removeSingleMetric(name)
}

/** Gauges with the name of a counter, which `promtool check metrics` refuses, and those that may read `Nan`. */
const MALFORMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_lag_mean_seconds',
  'nodejs_eventloop_lag_stddev_seconds',
]
