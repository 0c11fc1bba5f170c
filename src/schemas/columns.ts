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
  scopePath,
  shorten,
  shortId,
} from './format.ts'
import { scopesDone, scopesInAll } from './run.ts'
import type { Failure, FailureReport, Run, RunStatus } from './run.ts'
import type { Pace } from './pace.ts'
import type { RunChange } from './run-change.ts'
import type { NightlySchedule } from './schedule.ts'
import { factsOf, KIND_NAMES, ownId, parentOf } from './thing.ts'
import type {
  Beneath,
  Found,
  LifeEntry,
  SomeThingIds,
  Thing,
  ThingIds,
  ThingKind,
} from './thing.ts'
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
  ['written', (run) => run.commentsWritten + run.usersWritten, 'number'],
  ['deleted', ({ commentsDeleted }) => commentsDeleted, 'number'],
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
    ['took', tookOf(run)],
  ]
}

/** The request of a run, with the thing or the run that it is of. */
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

/** The comment or the user with a link. */
function changedThing({ object, name, userId, ...ids }: RunChange): Value {
  const { organizationId } = ids
  if (object === 'comment')
    return { ids, text: shorten(name ?? '', 60) || `comment ${ids.commentId}` }
  return userId === null ? 'erased user' : personOf({ organizationId }, { userId, name })
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

function causeOf(failed: Parameters<typeof describeFailure>[0] & { errorMessage: string | null }) {
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

type ThingState = Beneath['state'] | Thing['why']['state']

const STATE_TONES: Readonly<Partial<Record<ThingState, Tone>>> = {
  here: 'good',
  good: 'good',
  failing: 'bad',
  stale: 'warn',
  removal_held: 'warn',
  removal_refused: 'info',
}

/** The state of a thing in its colour. */
export function stateOf(state: ThingState) {
  return { tone: STATE_TONES[state] ?? 'idle', text: state.replaceAll('_', ' ') }
}

/** A sentence, what it is about, and the run that noticed it. */
function noticed(sentence: string, runId: string | null, ...of: Value[]): Value {
  const run = runId === null ? [] : [{ runId, text: `(run ${shortId(runId)})` }]
  return { words: [sentence, ...of, ...run] }
}

/** Why a thing is here or gone, then what a reader should know about its state. */
export function reasonsOf({ kind, why, removal, isErasing }: Thing): [Value, ...Value[]] {
  return [
    noticed(why.sentence, why.runId),
    ...(removal === null || kind === 'user' ? [] : [noticed(removal.sentence, removal.runId)]),
    ...(isErasing ? ['An erasure is in progress: some texts may not be rewritten yet.'] : []),
  ]
}

/** The facts of a thing, with links to people, and its last and next check. */
export function factsOfThing(thing: Thing): Facts {
  const { checked, ids } = thing
  const person = (userId: string) => personOf(ids, { userId, name: null })
  const facts = factsOf(thing).map(([label, value, name]): Facts[number] => {
    if (typeof value === 'object' && !(value instanceof Date))
      return [label, { list: value.map(person) }]
    if (typeof value !== 'string') return [label, value]
    if (name === 'authorUserId') return [label, person(value)]
    return [label, name === 'text' ? { quote: value } : value]
  })
  return [
    ...facts,
    ['Checked', noticed(checked.sentence, checked.runId)],
    ['Failing', checked.failing && noticed(checked.failing, checked.failingRunId)],
    ['Next check', checked.next],
  ]
}

/** What happened to a thing, with its user and the run that noticed it. */
export function eventOf({ sentence, runId, user }: LifeEntry, { ids }: Thing): Value {
  return noticed(sentence, runId, ...(user === null ? [] : ['User:', personOf(ids, user)]))
}

function personOf({ organizationId }: ThingIds, { userId, name }: NonNullable<LifeEntry['user']>) {
  return { ids: { organizationId, userId }, text: name ? `${userId} (${name})` : userId }
}

/** The contents of a thing of each kind: their title, and the head of the column of times. */
export const CONTENTS: Readonly<Record<ThingKind, readonly [title: string, timeHead: string]>> = {
  organization: ['User groups and documents', 'last good check'],
  userGroup: ['Users', 'member since'],
  document: ['Annotations and users', 'last good check, or member since'],
  annotation: ['Comments', 'last change'],
  comment: ['', ''],
  user: ['User groups and documents', 'member since'],
}

/** The number of comments of an annotation or of what contains annotations. */
export const COMMENT_COUNT: Columns<Beneath>[number] = [
  'comments',
  ({ comments }) => comments,
  'number',
]

/** The columns of the contents of a thing. */
export function beneathColumns(kind: ThingKind): Columns<Beneath> {
  return [
    ...NAMED_COLUMNS,
    ['state', ({ state }) => stateOf(state)],
    COMMENT_COUNT,
    [CONTENTS[kind][1], ({ at }) => at, 'nowrap'],
  ]
}

type Named = Pick<Found, 'kind' | 'ids' | 'name'> & { readonly runId?: string | null }

function idOf({ kind, ids, runId = null }: Named): string | null {
  return kind === 'run' || ids === null ? runId : ownId(kind, ids)
}

/** Its name with a link, its kind and its ID. */
const NAMED_COLUMNS: Columns<Named> = [
  [
    'name',
    (of) =>
      of.ids
        ? { ids: of.ids, text: of.name?.trim() || (idOf(of) ?? '') }
        : of.runId
          ? { runId: of.runId }
          : null,
    'id',
    50,
  ],
  ['kind', ({ kind }) => (kind === 'run' ? 'Run' : KIND_NAMES[kind]), 'nowrap'],
  ['ID', idOf, 'id', 50],
]

export const FOUND_COLUMNS: Columns<Found> = [
  ...NAMED_COLUMNS,
  ['in', ({ ids }) => ids && scopePath(parentOf(ids) ?? {}), 'id'],
  ['match', ({ isExact }) => (isExact ? 'exact' : 'part'), 'nowrap'],
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
    ['removed', removedCron && { code: removedCron }],
    ['time zone', timeZone],
    ...(set.setAt === null
      ? [[`${verb} by`, 'the settings SYNC_CRON and SYNC_TZ'] as const]
      : [[`${verb} by`, set.by ?? 'a user'] as const, [verb, set.setAt] as const]),
  ]
}
