import { RECORD_KEYS } from '../base/columns.ts'
import type { Action } from './action.ts'
import type { AttentionByKind } from './attention.ts'
import {
  changeWord,
  count,
  describeFailure,
  describeRequest,
  describeStates,
  describeStatus,
  duration,
  FAILURE_STATES,
  listingName,
  rejectedNoun,
  shorten,
} from './format.ts'
import { DELETED_COUNTS, sumOf, WRITTEN_COUNTS } from './counts.ts'
import { scopesDone, scopesInAll } from './run.ts'
import type { Failure, FailureReport, Run, RunStatus } from './run.ts'
import type { Pace } from './pace.ts'
import type { RunChange } from './run-change.ts'
import type { NightlySchedule } from './schedule.ts'
import type { LifeEntry, SomeThingIds, ThingIds } from './thing.ts'
import type { HeldListing, RejectedRecord } from './waiting.ts'

/** A state, shown by a colour, and in pages also by a sign. */
export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'idle'

/** A value of a list or a fact. Commands show it as text, pages with links and badges. */
export type Value =
  | string
  | number
  | boolean
  | Date
  | null
  /** Words with a blank between them. */
  | { readonly words: readonly Value[] }
  | { readonly list: readonly Value[] }
  /** A run; by default with the first digits of its ID. */
  | { readonly runId: string; readonly text?: string }
  /** Another page. */
  | { readonly path: string; readonly text: string }
  /** The page of a thing; by default with its IDs as a path. */
  | { readonly ids: SomeThingIds; readonly text?: string }
  | { readonly tone: Tone; readonly text: string }
  /** A number that deserves attention. Pages show it without colour. */
  | { readonly tone: Tone; readonly count: number }
  /** How long ago a time was, or in how long it will be. */
  | { readonly ago: Date }
  | { readonly code: string }
  /** A text that a user wrote, such as a comment or a reason. */
  | { readonly quote: string }
  /** A record as received. */
  | { readonly record: string }
  /** A value above a less important one. */
  | { readonly value: Value; readonly note: Value }

/**
 * A column of a list. Commands show texts of at most `most` characters (60 if omitted), and a `wrapped` text in lines of that
 * length. Pages begin the head with a capital letter.
 */
export type Column<Row, Cell = Value> = readonly [
  head: string,
  cell: (row: Row) => Cell,
  kind?: 'number' | 'id' | 'nowrap' | 'wrapped' | undefined,
  most?: number,
]

export type Columns<Row> = readonly Column<Row>[]

export type Facts = readonly (readonly [term: string, value: Value])[]

export const STATUS_TONES: Readonly<Record<RunStatus, Tone>> = {
  queued: 'info',
  running: 'info',
  succeeded: 'good',
  partial: 'warn',
  failed: 'bad',
  cancelled: 'idle',
}

export const URGENCY_TONES = { high: 'bad', medium: 'warn', low: 'info' } as const

/** `acme (8), globex (3) and 2 more`: organizations with their counts, the highest first. */
export function organizationsOf({ organizations, first }: AttentionByKind): Value {
  const list = first.map(({ organizationId, count: n }) => ({
    words: [{ ids: { organizationId } }, `(${count(n)})`],
  }))
  const more = organizations - first.length
  return { words: [{ list }, ...(more > 0 ? [`and ${count(more)} more`] : [])] }
}

/** The status of a run in its colour. */
export function statusOf(run: Pick<Run, 'status' | 'stopping'>) {
  return { tone: STATUS_TONES[run.status], text: describeStatus(run) }
}

export const RUN_COLUMNS: Columns<Run> = [
  ['run', ({ runId }) => ({ runId }), 'nowrap'],
  ['status', statusOf],
  ['requested', ({ requestedAt }) => requestedAt, 'nowrap'],
  ['by', requesterOf, 'id', 30],
  ['took', tookOf, 'number'],
  ['scopes', describeProgress, 'number'],
  ['failed', ({ scopesFailed }) => flagged(scopesFailed, 'bad'), 'number'],
  ['held', ({ scopesHeld }) => flagged(scopesHeld, 'warn'), 'number'],
  ['calls', ({ calls }) => calls, 'number'],
  ['written', (run) => sumOf(run, WRITTEN_COUNTS), 'number'],
  ['deleted', (run) => sumOf(run, DELETED_COUNTS), 'number'],
  ['scope', (run) => shorten(describeRequest(run), 80), 'id', 40],
]

function requesterOf({ requestedBy, trigger }: Run): string {
  return requestedBy ?? trigger
}

function tookOf({ startedAt, durationMs }: Run): string {
  return startedAt === null ? '–' : duration(durationMs)
}

function describeProgress(run: Run): Value {
  const done = scopesDone(run)
  return run.finishedAt === null ? `${count(done)} of ${count(scopesInAll(run))}` : done
}

function flagged(n: number, tone: Tone): Value {
  return n > 0 ? { tone, count: n } : n
}

/** The request of a run, its times and its duration. */
export function factsOfRun(run: Run): Facts {
  return [
    ['ID', { code: run.runId }],
    ['scope', requestOf(run)],
    ['requested by', requesterOf(run)],
    ['requested', run.requestedAt],
    ['started', run.startedAt ?? 'not yet'],
    [run.status === 'running' ? 'running for' : 'took', tookOf(run)],
  ]
}

function requestOf(run: Run): Value {
  const text = describeRequest(run)
  if (run.retryOf !== null) return { runId: run.retryOf, text }
  const { organizationIds = [], documentId, annotationId, ...more } = run.scope
  const [organizationId, ...others] = organizationIds
  const [organizationUserGroupId, ...otherGroups] = more.organizationUserGroupIds ?? []
  if (organizationId === undefined || others.length + otherGroups.length > 0) return text
  return { ids: { organizationId, documentId, annotationId, organizationUserGroupId }, text }
}

export const ACTION_COLUMNS: Columns<Action> = [
  ['at', ({ at }) => at, 'nowrap'],
  ['by', ({ by }) => by, 'id', 30],
  ['action', ({ action }) => action.replaceAll('_', ' '), 'nowrap'],
  ['target', ({ target }) => target, 'id'],
  ['reason', ({ reason }) => reason, 'id'],
  ['run', ({ runId }) => runId && { runId }, 'nowrap'],
]

export const FAILURE_COLUMNS: Columns<Failure> = [
  ['scope', (failure) => ({ ids: failure }), 'id'],
  ['operation', ({ operation }) => operation],
  ['cause', causeOf, 'wrapped'],
  ['attempts', ({ attempts }) => attempts, 'number'],
  ['at', ({ at }) => at, 'nowrap'],
  [
    'state now',
    ({ state, resolvedBy, resolvedAt }) => {
      const by = resolvedBy === null ? [] : ['by', runs([resolvedBy]), 'at', resolvedAt]
      return { words: [FAILURE_STATES[state], ...by] }
    },
  ],
]

export const RUN_CHANGE_COLUMNS: Columns<RunChange> = [
  ['changed', changedThing, 'id', 50],
  ['change', changeWord, 'nowrap'],
  ['kind', ({ object }) => object.replaceAll('_', ' '), 'nowrap'],
  ['in', (ids) => ({ ids: { ...ids, commentId: null, userId: null } }), 'id'],
  ['at', ({ at }) => at, 'nowrap'],
]

function changedThing(change: RunChange): Value {
  const { object, organizationId, documentId, annotationId, commentId, name } = change
  const key = RECORD_KEYS[object]
  if (key === 'commentId') {
    const ids = { organizationId, documentId, annotationId, commentId }
    return { ids, text: shorten(name ?? '', 60) || `comment ${commentId}` }
  }
  const id = change[key]
  return id === null ? 'erased user' : { ids: { organizationId, [key]: id }, text: named(id, name) }
}

/** A user with a link, and the name if it is known. */
export function personOf(
  { organizationId }: ThingIds,
  { userId, name }: NonNullable<LifeEntry['user']>,
) {
  return { ids: { organizationId, userId }, text: named(userId, name) }
}

function named(id: string, name: string | null): string {
  return name ? `${id} (${name})` : id
}

export const CAUSE_COLUMNS: Columns<FailureReport> = [
  ['cause', causeOf, 'wrapped'],
  ['operation', ({ operation }) => operation],
  ['scopes', ({ scopes }) => scopes, 'number'],
  ['organizations', ({ organizations }) => organizations, 'number'],
  ['attempts', ({ attempts }) => attempts, 'number'],
  [
    'state now',
    ({ resolvedBy, ...states }) => {
      const by = resolvedBy.length === 0 ? [] : ['by', runs(resolvedBy)]
      return { words: [describeStates(states), ...by] }
    },
  ],
  ['examples', ({ examples }) => ({ list: examples.map((ids) => ({ ids })) }), 'id'],
]

function causeOf(failed: Pick<Failure, 'httpStatus' | 'errorStatus' | 'errorMessage'>) {
  return { value: describeFailure(failed), note: failed.errorMessage }
}

/** `run 0aea587c` or `runs 0aea587c, 34d09c54`. */
export function runs(runIds: readonly string[]): Value {
  const words = runIds.length === 1 ? 'run' : 'runs'
  return { words: [words, { list: runIds.map((runId) => ({ runId })) }] }
}

export const HELD_COLUMNS: Columns<HeldListing> = [
  ['ID', ({ heldId }) => String(heldId), 'number'],
  ['listing', listingName, 'id'],
  ['users', ({ usersBefore }) => usersBefore, 'number'],
  ['returned', ({ usersReturned }) => usersReturned, 'number'],
  ['missing', ({ usersMissing }) => usersMissing, 'number'],
  ['since', ({ at }) => at, 'nowrap'],
]

export const REJECTED_COLUMNS: Columns<RejectedRecord> = [
  ['ID', ({ rejectedRecordId }) => String(rejectedRecordId)],
  ['from', (record) => ({ value: { ids: record }, note: record.operation }), 'id'],
  [
    'reason',
    ({ reason, setAsideAt, setAsideReason, ...record }) => ({
      value: setAsideReason ?? reason,
      note: rejectedNoun(record) + (setAsideAt === null ? '' : ', set aside'),
    }),
    'id',
  ],
  ['as received', ({ record, isCut }) => ({ record: isCut ? `${record}…` : record }), 'nowrap', 40],
  ['run', ({ runId, at }) => ({ value: { runId }, note: at }), 'nowrap'],
]

/** How fast the service is called, and who set that. */
export function factsOfPace({ callsPerSecond, lowestRateLimit, setAt, setBy, pause }: Pace): Facts {
  return [
    ['calls', pause === null ? 'not paused' : { words: ['paused until', pause.until] }],
    ['paused by', pause && pause.by],
    ['since', pause && pause.since],
    ['reason', pause && pause.reason],
    ['pace', callsPerSecond === null ? 'none' : `${callsPerSecond} calls a second`],
    ['set by', setAt && { words: [setBy ?? 'a user', setAt] }],
    ['SYNC_RATE_LIMIT', lowestRateLimit === null ? 'none' : `${lowestRateLimit} calls a second`],
  ]
}

/** The nightly schedule, and who set or removed it. */
export function factsOfSchedule(schedule: NightlySchedule): Facts {
  const { cron, next, removedCron, timeZone, ...set } = schedule
  const verb = cron === null ? 'removed' : 'set'
  return [
    ['next', next ?? 'never'],
    ['due', next && { ago: next }],
    ['cron expression', cron === null ? 'none' : { code: cron }],
    ['removed expression', removedCron && { code: removedCron }],
    ['time zone', timeZone],
    ...(set.setAt === null
      ? [[`${verb} by`, 'the settings SYNC_CRON and SYNC_TZ'] as const]
      : [[`${verb} by`, set.by ?? 'a user'] as const, [verb, set.setAt] as const]),
  ]
}
