import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { DEAD_AFTER_S } from '../../core/database/claims.ts'
import type { Database } from '../../core/database/pool.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as attention from '../../core/database/statements/attention.ts'
import * as scopes from '../../core/database/statements/scopes.ts'
import * as telemetry from '../../core/database/statements/telemetry.ts'
import { ATTENTION_KINDS } from '../../documents/attention.ts'

/** What metrics tell of PostgreSQL. */
export interface StoredSignals {
  readonly totals: readonly RowOf<typeof telemetry.runTotals>[]
  readonly lastRuns: readonly RowOf<typeof telemetry.lastRuns>[]
  readonly state: RowOf<typeof telemetry.state>
  readonly freshness: RowOf<typeof scopes.freshness>
  readonly attention: readonly Pick<RowOf<typeof attention.byKind>, 'kind' | 'count'>[]
}

/** Five statements, one after the other: a scrape takes one connection. */
export async function readSignals(database: Database): Promise<StoredSignals> {
  const totals = await telemetry.runTotals.all(database)
  const lastRuns = await telemetry.lastRuns.all(database)
  const state = await telemetry.state.one(database, { deadAfterS: DEAD_AFTER_S })
  const freshness = await scopes.freshness.one(database)
  return { totals, lastRuns, state, freshness, attention: await attention.byKind.all(database) }
}

/** What `serve` tells at one moment; null is what could not be read. */
export interface ServiceSignals {
  readonly stored: StoredSignals | null
  readonly queue: QueueSignals | null
}

export interface QueueSignals {
  /** By BullMQ's names of states. */
  readonly jobs: Readonly<Record<string, number>>
  /** Null where no schedule is registered. */
  readonly nextNightly: Date | null
}

/**
 * These signals as metrics. All are gauges, sums over `sync.runs` too: `prune` takes runs away, and a counter that falls
 * would be read as one that began anew. The counters are those of the workers.
 */
export function serviceRegistry({ stored, queue }: ServiceSignals): Registry {
  const registry = new Registry()
  const gauge = gaugesOf(registry)
  gauge('database_up', 'Whether PostgreSQL answers (1) or not (0).', [[{}, stored ? 1 : 0]])
  gauge('queue_up', 'Whether the queue answers (1) or not (0).', [[{}, queue ? 1 : 0]])
  if (stored !== null) {
    addTotals(gauge, stored.totals)
    addLastRuns(gauge, stored.lastRuns)
    addFreshness(gauge, stored.freshness)
    addState(gauge, stored.state)
    addAttention(gauge, stored.attention)
  }
  if (queue !== null) addQueue(gauge, queue)
  return registry
}

type Labels = Readonly<Record<string, string>>
type AddGauge = (
  name: string,
  help: string,
  values: readonly (readonly [Labels, number | null])[],
) => void

const TRIGGERS = ['schedule', 'cli', 'http', 'api', 'hint', 'refresh'] as const
const STATUSES = ['queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled'] as const
const SETTLED = ['succeeded', 'partial', 'failed', 'cancelled'] as const
const SCOPE_OUTCOMES = [
  ['succeeded', 'scopesSucceeded'],
  ['failed', 'scopesFailed'],
  ['held', 'scopesHeld'],
  ['skipped', 'scopesSkipped'],
] as const
const RECORD_OUTCOMES = [
  ['inserted', 'recordsInserted'],
  ['updated', 'recordsUpdated'],
  ['unchanged', 'recordsUnchanged'],
  ['rejected', 'recordsRejected'],
  ['null', 'recordsNull'],
] as const

function gaugesOf(registry: Registry): AddGauge {
  return (name, help, values) => {
    const known = values.filter((value): value is [Labels, number] => value[1] !== null)
    if (known.length === 0) return
    const gauge = new Gauge({
      name: `collab_sync_${name}`,
      help,
      labelNames: Object.keys(known[0]?.[0] ?? {}),
      registers: [registry],
    })
    for (const [labels, value] of known) gauge.set(labels, value)
  }
}

function addTotals(gauge: AddGauge, totals: StoredSignals['totals']): void {
  const runsOf = (trigger: string, status: string) =>
    totals.find((row) => row.trigger === trigger && row.status === status)?.runs ?? 0
  const sum = (column: Exclude<keyof (typeof totals)[number], 'trigger' | 'status'>) =>
    totals.reduce((before, row) => before + row[column], 0)
  gauge(
    'runs',
    'Runs in sync.runs.',
    TRIGGERS.flatMap((trigger) =>
      STATUSES.map((status) => [{ trigger, status }, runsOf(trigger, status)] as const),
    ),
  )
  gauge('runs_calls', 'Calls of the settled runs in sync.runs.', [[{}, sum('calls')]])
  gauge('runs_retries', 'Of those calls, further tries.', [[{}, sum('retries')]])
  gauge(
    'runs_scopes',
    'Scopes of the settled runs in sync.runs, by outcome.',
    SCOPE_OUTCOMES.map(([outcome, column]) => [{ outcome }, sum(column)] as const),
  )
  gauge(
    'runs_records',
    'Records that the settled runs in sync.runs received, by outcome.',
    RECORD_OUTCOMES.map(([outcome, column]) => [{ outcome }, sum(column)] as const),
  )
  gauge('runs_rows', 'Rows that the settled runs in sync.runs wrote, by table and outcome.', [
    [{ table: 'users', outcome: 'written' }, sum('usersWritten')],
    [{ table: 'comments', outcome: 'written' }, sum('commentsWritten')],
    [{ table: 'comments', outcome: 'deleted' }, sum('commentsDeleted')],
    [{ table: 'rejected_records', outcome: 'written' }, sum('rejected')],
  ])
}

function addLastRuns(gauge: AddGauge, runs: StoredSignals['lastRuns']): void {
  const each = (name: string, help: string, read: (run: (typeof runs)[number]) => number | null) =>
    gauge(
      `last_run_${name}`,
      help,
      runs.map((run) => [{ trigger: run.trigger }, read(run)] as const),
    )
  each(
    'requested_timestamp_seconds',
    'When the last settled run was asked for.',
    (run) => run.requestedS,
  )
  each('finished_timestamp_seconds', 'When the last settled run ended.', (run) => run.finishedS)
  each('duration_seconds', 'What the last settled run took.', (run) => run.durationS)
  each('calls', 'Calls of the last settled run.', (run) => run.calls)
  each('retries', 'Of those calls, further tries.', (run) => run.retries)
  each(
    'rejected',
    'Records, or members of records, that the last settled run rejected.',
    (run) => run.rejected,
  )
  gauge(
    'last_run_status',
    'What became of the last settled run: 1 for its status, 0 for the others.',
    runs.flatMap(({ trigger, status: actual }) =>
      SETTLED.map((status) => [{ trigger, status }, status === actual ? 1 : 0] as const),
    ),
  )
  gauge(
    'last_run_scopes',
    'Scopes of the last settled run, by outcome.',
    runs.flatMap((run) =>
      SCOPE_OUTCOMES.map(
        ([outcome, column]) => [{ trigger: run.trigger, outcome }, run[column]] as const,
      ),
    ),
  )
}

function addFreshness(gauge: AddGauge, freshness: StoredSignals['freshness']): void {
  const { promiseS, scopes: all, neverChecked, failing, stale, overdue } = freshness
  const ageS = (at: Date | null) => at && Math.max(0, Date.now() - at.getTime()) / 1000
  const gauges = [
    ['freshness_promise_seconds', 'FRESHNESS_PROMISE: how old what is stored may get.', promiseS],
    ['catalog_scopes', 'Scopes of the catalog.', all],
    ['catalog_scopes_never_checked', 'Of them, those never checked well.', neverChecked],
    ['catalog_scopes_failing', 'Of them, those whose last try failed.', failing],
    ['catalog_scopes_stale', 'Of them, those that are failing, not checked or too old.', stale],
    ['catalog_scopes_overdue', 'Of them, those not checked well within the promise.', overdue],
    ['oldest_check_age_seconds', 'Age of the oldest last good check.', ageS(freshness.oldestCheck)],
    ['newest_check_age_seconds', 'Age of the newest last good check.', ageS(freshness.newestCheck)],
  ] as const
  for (const [name, help, value] of gauges) gauge(name, help, [[{}, value]])
}

function addState(gauge: AddGauge, state: StoredSignals['state']): void {
  const one = (name: string, help: string, value: number | null) => gauge(name, help, [[{}, value]])
  one('workers_alive', 'Workers with a heartbeat in the last 30 seconds.', state.workers)
  one('workers_calls_in_flight', 'Calls that they have in flight.', state.callsInFlight)
  one(
    'workers_calls_in_flight_limit',
    'Most calls that they may have in flight at present.',
    state.callsLimit,
  )
  one(
    'open_run_age_seconds',
    'Age of the oldest run under way; 0 for none.',
    state.openRunAgeS ?? 0,
  )
}

/** Kinds without a row are 0, so that a rule can compare a kind with its past. */
function addAttention(gauge: AddGauge, rows: StoredSignals['attention']): void {
  const counts = new Map(rows.map(({ kind, count }) => [kind, count]))
  gauge(
    'attention',
    'What needs a person now, by kind, as in sync.attention: scopes, listings, records, workers or settings; 0 for nothing.',
    ATTENTION_KINDS.map((kind) => [{ kind }, counts.get(kind) ?? 0] as const),
  )
}

function addQueue(gauge: AddGauge, { jobs, nextNightly }: QueueSignals): void {
  gauge(
    'queue_jobs',
    'Jobs in the queue; the next nightly one counts as delayed.',
    Object.entries(jobs).map(([state, count]) => [{ state }, count] as const),
  )
  gauge('next_nightly_timestamp_seconds', 'When the next nightly run is due.', [
    [{}, nextNightly === null ? null : nextNightly.getTime() / 1000],
  ])
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
