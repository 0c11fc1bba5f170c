/** The kinds of sync.attention that are sent: the type of the message for an open problem, and for its resolution. */
export const ATTENTION = {
  failing: ['scopes.failing', 'scopes.recovered'],
  overdue: ['freshness.passed', 'freshness.recovered'],
  held: ['held.waiting', 'held.settled'],
  rejected: ['rejected.waiting', 'rejected.settled'],
  catalog_held: ['catalog.held', 'catalog.settled'],
  catalog_failed: ['catalog.failed', 'catalog.recovered'],
  worker_blocked: ['worker.blocked', 'worker.recovered'],
  no_worker: ['worker.none', 'worker.back'],
  nightly_missed: ['nightly.missed', 'nightly.recovered'],
  nightly_late: ['nightly.late', 'nightly.recovered'],
  credentials: ['credentials.refused', 'credentials.accepted'],
  unreachable: ['service.unreachable', 'service.recovered'],
  throttled: ['service.throttled', 'service.recovered'],
  refresh_paused: ['refresh.paused', 'refresh.resumed'],
  lock_wait: ['lock.waiting', 'lock.released'],
  settings_differ: ['settings.differ', 'settings.agree'],
} as const

/** The types that a receiver gets unless it names its own in `#events=`. */
export const DEFAULT_TYPES: readonly string[] = [
  ...new Set([
    ...Object.values(ATTENTION).flat(),
    'run.failed',
    'run.cancelled',
    'members.changed',
  ]),
]

/** The types that a receiver can name in `#events=`. */
export const TYPES: readonly string[] = [...DEFAULT_TYPES, 'run.finished']

/** An address of NOTIFY_URL. */
export interface ReceiverAddress {
  readonly shape: 'json' | 'slack' | 'teams' | 'heartbeat'
  /** A secret: anyone who knows it can post there. */
  readonly url: string
  /** The types of `#events=`; undefined without it. */
  readonly events?: readonly string[]
}
