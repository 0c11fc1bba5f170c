import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { columnOf } from '../../base/columns.ts'
import { DEAD_AFTER_S } from '../../core/database/claims.ts'
import type { Database } from '../../core/database/pool.ts'
import * as attention from '../../core/database/statements/attention.ts'
import * as scopes from '../../core/database/statements/scopes.ts'
import * as telemetry from '../../core/database/statements/telemetry.ts'
import type { JobQueue } from '../../core/queue/queue.ts'
import { nextNightly } from '../../core/queue/schedule.ts'
import { ATTENTION_KINDS } from '../../schemas/attention.ts'
import { DELETED_COUNTS, WRITTEN_COUNTS } from '../../schemas/counts.ts'
import { RunSchema } from '../../schemas/run.ts'
import { commit, version } from '../../base/version.ts'

/** Reads the metrics from PostgreSQL, one statement after the other, so that a scrape takes one connection. */
export async function readSignals(database: Database) {
  return {
    totals: await telemetry.runTotals.all(database),
    lastRuns: await telemetry.lastRuns.all(database),
    state: await telemetry.state.one(database, { deadAfterS: DEAD_AFTER_S }),
    freshness: await scopes.freshness.one(database),
    attention: await attention.byKind.all(database),
  }
}

/** Reads jobs by state, and the next nightly run if a schedule is registered. */
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

/** A snapshot for `serve`; what could not be read is null. */
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
/** Counts of rows, by their labels. Removed users are written ones. */
export const ROW_COUNTS = [
  ...[...WRITTEN_COUNTS, ...DELETED_COUNTS].map((name) => {
    const [table = '', outcome = ''] = columnOf(name).split(/_(?=[a-z]+$)/)
    return [{ table, outcome }, name] as const
  }),
  [{ table: 'rejected_records', outcome: 'written' }, 'rejected'] as const,
]
/** Runs also have skipped scopes, commits do not. */
const RUN_SCOPE_OUTCOMES = [...SCOPE_OUTCOMES, 'Skipped'] as const
const TRIGGERS = RunSchema.shape.trigger.options
const STATUSES = RunSchema.shape.status.options
const FINISHED = STATUSES.filter((status) => status !== 'queued' && status !== 'running')

/**
 * Creates the metrics of the service. All are gauges, also sums over `sync.runs`: `prune` deletes runs, and a counter that
 * falls would count as restarted.
 */
export function serviceRegistry({ stored, queue }: ServiceSignals): Registry {
  const registry = new Registry()
  const rows: readonly GaugeRow[] = [
    ['database_up', 'Whether PostgreSQL can be queried (1) or not (0).', stored ? 1 : 0],
    ['queue_up', 'Whether the queue can be queried (1) or not (0).', queue ? 1 : 0],
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
    ['runs_calls', 'Calls of finished runs in sync.runs.', sum('calls')],
    ['runs_retries', 'Calls of finished runs that were retries.', sum('retries')],
    [
      'runs_scopes',
      'Scopes of finished runs in sync.runs, by outcome.',
      RUN_SCOPE_OUTCOMES.map((name) => [{ outcome: name.toLowerCase() }, sum(`scopes${name}`)]),
    ],
    [
      'runs_records',
      'Records that finished runs in sync.runs received, by outcome.',
      RECORD_OUTCOMES.map((name) => [{ outcome: name.toLowerCase() }, sum(`records${name}`)]),
    ],
    [
      'runs_rows',
      'Rows that finished runs in sync.runs wrote, by table and outcome.',
      ROW_COUNTS.map(([labels, column]) => [labels, sum(column)]),
    ],
  ]
}

function lastRunRows({ lastRuns }: StoredSignals): GaugeRow[] {
  const each = (column: Exclude<keyof (typeof lastRuns)[number], 'trigger' | 'status'>) =>
    lastRuns.map(({ trigger, [column]: value }) => [{ trigger }, value] as const)
  const rows: GaugeRow[] = [
    [
      'requested_timestamp_seconds',
      'When the last finished run was requested.',
      each('requestedS'),
    ],
    ['finished_timestamp_seconds', 'When the last finished run ended.', each('finishedS')],
    ['duration_seconds', 'Duration of the last finished run.', each('durationS')],
    ['calls', 'Calls of the last finished run.', each('calls')],
    ['retries', 'Calls of the last finished run that were retries.', each('retries')],
    [
      'rejected',
      'Records, or fields of records, that the last finished run rejected.',
      each('rejected'),
    ],
    [
      'status',
      'Status of the last finished run: 1 for its status, 0 for the others.',
      lastRuns.flatMap(({ trigger, status: actual }) =>
        FINISHED.map((status) => [{ trigger, status }, status === actual ? 1 : 0] as const),
      ),
    ],
    [
      'scopes',
      'Scopes of the last finished run, by outcome.',
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
    [
      'freshness_promise_seconds',
      'FRESHNESS_PROMISE: maximum age of the last valid response of a scope.',
      promiseS,
    ],
    ['catalog_scopes', 'Scopes of the catalog.', all],
    [
      'catalog_scopes_never_checked',
      'Scopes of the catalog without a valid response so far.',
      neverChecked,
    ],
    ['catalog_scopes_failing', 'Scopes of the catalog whose last check failed.', failing],
    [
      'catalog_scopes_stale',
      'Scopes of the catalog that are failing, never checked, too old, or not checked since a full run was stopped.',
      stale,
    ],
    [
      'catalog_scopes_overdue',
      'Scopes of the catalog without a valid response within FRESHNESS_PROMISE.',
      overdue,
    ],
    [
      'oldest_check_age_seconds',
      'Age of the oldest last valid response.',
      ageS(freshness.oldestCheck),
    ],
    [
      'newest_check_age_seconds',
      'Age of the newest last valid response.',
      ageS(freshness.newestCheck),
    ],
    ['workers_alive', 'Workers with a heartbeat in the last 30 seconds.', state.workers],
    ['workers_calls_in_flight', 'Calls in flight of these workers.', state.callsInFlight],
    [
      'workers_calls_in_flight_limit',
      'Current maximum of calls in flight of these workers.',
      state.callsLimit,
    ],
    [
      'open_run_age_seconds',
      'Age of the oldest run in progress; 0 if there is none.',
      state.openRunAgeS ?? 0,
    ],
    ['last_prune_timestamp_seconds', 'When history was last pruned.', state.prunedS],
    [
      'attention',
      'Open problems by kind, as in sync.attention: scopes, listings, records, workers, statements or settings.',
      ATTENTION_KINDS.map((kind) => [{ kind }, countOf(kind)]),
    ],
  ]
}

function queueRows({ jobs, nextNightly: next }: QueueSignals): GaugeRow[] {
  return [
    [
      'queue_jobs',
      'Jobs in the queue, by state. The next nightly run counts as delayed.',
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
  new Gauge({
    name: 'collab_sync_build_info',
    help: 'Always 1; the labels say which build of collab-sync runs.',
    labelNames: ['version', 'commit'],
    registers: [registry],
  }).set({ version: version(), commit: commit() ?? '' }, 1)
}

/** Gauges with the name of a counter, which `promtool check metrics` refuses, and those that may be `Nan`. */
const MALFORMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_lag_mean_seconds',
  'nodejs_eventloop_lag_stddev_seconds',
]
