import type { EndedRun, HeldIds } from '../database/notifications.ts'

/** A time as it comes out of PostgreSQL's JSON. */
type IsoTime = string

/** What people are told, by its kind; stored as JSON, so only what JSON has. Nothing in it was written by a person. */
export type Happening =
  | EndedBadly
  | {
      readonly kind: 'run.recovered'
      readonly runId: string
      readonly trigger: string
      readonly at: IsoTime
      /** Earlier runs that this one makes good. */
      readonly problems: number
    }
  | {
      readonly kind: 'held.waiting'
      readonly runId: string
      readonly at: IsoTime
      readonly listings: number
      readonly usersMissing: number
      /** Five at most. */
      readonly first: readonly HeldIds[]
    }
  | { readonly kind: 'held.settled'; readonly at: IsoTime }
  | {
      readonly kind: 'nightly.missed'
      readonly at: IsoTime
      readonly dueAt: IsoTime
      readonly cron: string
      readonly timeZone: string
    }
  | {
      readonly kind: 'nightly.late'
      readonly runId: string
      readonly at: IsoTime
      readonly dueAt: IsoTime
      readonly runningS: number
      readonly usualS: number
    }
  | { readonly kind: 'nightly.recovered'; readonly runId: string; readonly at: IsoTime }
  | {
      readonly kind: 'freshness.passed' | 'freshness.recovered'
      readonly at: IsoTime
      readonly oldestCheck: IsoTime
      readonly promiseS: number
      readonly neverChecked: number
    }

type EndedBadly = Omit<EndedRun, 'status' | 'finishedAt'> & {
  readonly kind: 'run.failed' | 'run.partial' | 'run.cancelled'
  readonly at: IsoTime
}
