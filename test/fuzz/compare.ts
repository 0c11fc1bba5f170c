import { digestOfRejected } from '../../src/core/sync/record/digest.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { Knowledge } from '../worlds/knowledge.ts'
import type { IsStored, Outcome } from '../worlds/knowledge.ts'
import { keyOf } from '../worlds/log.ts'
import type { Call } from '../worlds/log.ts'
import { rowsOf } from '../worlds/run-question.ts'
import { columnsOf, views } from '../worlds/views.ts'
import { linesOf, scopesOf } from './layout.ts'
import type { Layout, Scope } from './layout.ts'
import type { Reject } from './received-model.ts'
import { readResponse } from './response-model.ts'
import type { Exchange } from './response-model.ts'
import { readRun } from './tables.ts'
import type { RunRows, ScopeRow } from './tables.ts'

/** Where the tables are not what the model says; `key` is the scope. */
export interface Difference {
  readonly key: string
  readonly says: string
}

/** Most ids in one call, `SYNC_MAX_IDS`. */
export const MAX_IDS = 2
/** Failures in a row after which an organization may be spared further calls. */
const FAILURES_TO_BREAK = 5
/** Not user_versions: which names a run stores one after the other depends on the order of its responses. */
const VIEWS = 'comments comment_versions users document_users user_group_members'.split(' ')

/** Compares the tables after each run with the model of test/worlds. */
export class Comparison {
  readonly #known = new Knowledge(null)
  readonly #times: Date[] = []
  /** By the key of the scope in calls. */
  readonly #scopes: ReadonlyMap<string, Scope>
  readonly #maxBodyBytes: number

  constructor(layout: Layout, maxBodyBytes: number) {
    this.#scopes = new Map([...scopesOf(layout)].map((scope) => [keyOf(scope), scope]))
    this.#maxBodyBytes = maxBodyBytes
    this.#known.learn({ kind: 'catalog', at: new Date(), lines: [...linesOf(layout)] })
  }

  /**
   * Applies what the service answered in one run, and compares what the tables hold after it.
   * @param count called with what the answers were, for the tally
   */
  async compare(
    exchanges: ReadonlyMap<string, readonly Exchange[]>,
    { database, runId, at }: { database: Database; runId: string; at: Date },
    count: (what: string) => void,
  ): Promise<Difference[]> {
    const differences: Difference[] = []
    const differ = (key: string, says: string) => void differences.push({ key, says })
    const rows = new Map<string, unknown[][]>()
    this.#times.push(at)
    for (const name of VIEWS) {
      const { columns } = viewOf(name)
      rows.set(name, await rowsOf(database, `select ${columns} from collab.${name}`, this.#times))
    }
    const calls = [...this.#scopes].flatMap(([key, scope]) =>
      (exchanges.get(key) ?? []).map((exchange) => this.#callOf(scope, exchange)),
    )
    const deed = { kind: 'run', at, scope: {}, calls, isStopped: false } as const
    this.#known.learn(deed, storedIn(rows))
    for (const { key, says } of this.#known.complaints.splice(0)) differ(key, says)
    const { outcomes } = this.#known
    const stored = await readRun(database, runId)
    for (const [key, outcome] of outcomes) {
      tally(outcome, count)
      compareOutcome(key, outcome, stored.scopes.get(key), differ)
    }
    for (const key of stored.scopes.keys())
      if (!this.#scopes.has(key)) differ(key, 'a row of no scope')
    checkSpared(outcomes, exchanges, differ)
    for (const [name, read] of rows) this.#compareView(name, read, at, differ)
    compareRun(outcomes, this.#scopes, exchanges, stored, differ)
    return differences
  }

  #callOf(scope: Scope, exchange: Exchange): Call {
    if ((exchange.ids?.length ?? 0) > MAX_IDS) throw new Error('too many ids')
    const response = readResponse(exchange, this.#maxBodyBytes)
    return { place: placeOf(scope), commentIds: exchange.ids, response }
  }

  #compareView(name: string, read: readonly unknown[][], now: Date, differ: Differ): void {
    const { columns, rows } = viewOf(name)
    const counted = rows({ known: this.#known, now, zone: 'UTC' })
    const [stored, expected] = [read, counted].map((list) =>
      list.map((row) => JSON.stringify(row)),
    ) as [string[], string[]]
    const names = columns.split(/,\s*/)
    const keyOfRow = (text: string) => {
      const row = JSON.parse(text) as string[]
      const of = (column: string) => row[names.indexOf(column)]
      return keyOf({
        organizationId: of('organization_id') as string,
        documentId: of('document_id'),
        annotationId: of('annotation_id'),
        groupId: of('organization_user_group_id'),
      })
    }
    for (const text of without(stored, expected)) differ(keyOfRow(text), `${name} has ${cut(text)}`)
    for (const text of without(expected, stored))
      differ(keyOfRow(text), `${name} lacks ${cut(text)}`)
  }
}

type Differ = (key: string, says: string) => void

function viewOf(name: string) {
  return views[`collab.${name}`] as (typeof views)[string]
}

function placeOf({ organizationId, documentId, annotationId, groupId }: Scope): Call['place'] {
  return {
    organizationId,
    ...(documentId === null ? {} : { documentId }),
    ...(annotationId === null ? {} : { annotationId }),
    ...(groupId === null ? {} : { groupId }),
  }
}

/** Of records with one ID, and of names from equally good sources, that of the tables counts. */
function storedIn(rows: ReadonlyMap<string, readonly unknown[][]>): IsStored {
  const starts = (name: string, length: number) =>
    new Set((rows.get(name) ?? []).map((row) => JSON.stringify(row.slice(0, length))))
  const comments = starts('comments', 13)
  const users = starts('users', 5)
  return (place, record) => {
    if ('commentId' in record)
      return comments.has(JSON.stringify(columnsOf(place as never, record)))
    const { userId, name, email, raw } = record
    return users.has(JSON.stringify([place.organizationId, userId, name, email, raw]))
  }
}

/** What was not called was skipped by the circuit breaker, which opens after failures. */
function checkSpared(
  outcomes: ReadonlyMap<string, Outcome>,
  exchanges: ReadonlyMap<string, readonly Exchange[]>,
  differ: Differ,
): void {
  const failures = new Map<string, number>()
  const groupOf = (key: string) => {
    const [organizationId, , annotationId] = JSON.parse(key)
    return `${annotationId === null ? 'users' : 'comments'} of ${organizationId}`
  }
  const isSpared = ({ failure }: Outcome) => failure?.errorStatus === 'breaker_open'
  for (const [key, outcome] of outcomes)
    if (outcome.status === 'failed' && !isSpared(outcome))
      failures.set(groupOf(key), (failures.get(groupOf(key)) ?? 0) + 1)
  for (const [key, outcome] of outcomes)
    if (isSpared(outcome) && (failures.get(groupOf(key)) ?? 0) < FAILURES_TO_BREAK)
      differ(key, exchanges.has(key) ? 'not all was requested by ID' : 'was not called')
}

function compareOutcome(
  key: string,
  outcome: Outcome,
  row: ScopeRow | undefined,
  differ: Differ,
): void {
  const failures = row?.failures ?? []
  const expected = outcome.failure
  if (expected === null && failures.length > 0) differ(key, `failed: ${show(failures)}`)
  if (expected !== null) {
    const [failure] = failures
    if (failures.length !== 1 || failure?.errorStatus !== expected.errorStatus)
      differ(key, `failures ${show(failures)} instead of ${show(expected)}`)
    else if (expected.errorStatus !== 'breaker_open' && failure.httpStatus !== expected.httpStatus)
      differ(key, `HTTP ${failure.httpStatus} instead of ${expected.httpStatus}`)
  }
  // The same content is one row for each reason.
  const told = [...new Set((row?.rejects ?? []).map(textOfReject))].sort()
  const rejects = [...new Set(outcome.rejects.map(textOfReject))].sort()
  const [more, less] = [without(told, rejects), without(rejects, told)]
  if (more.length + less.length > 0)
    differ(key, `rejected: too much ${show(more.slice(0, 3))}, missing ${show(less.slice(0, 3))}`)
}

/** The record, whatever the order of its members. */
function placeless(record: string): string {
  const nowhere = {
    organizationId: '',
    documentId: null,
    annotationId: null,
    organizationUserGroupId: null,
  }
  return digestOfRejected('comments', nowhere, { record, reason: '' }).toString('hex')
}

/** Of records with one key the model knows neither which one a digest prefers nor, of three, what the last is compared with. */
function textOfReject({ reason, record }: Reject): string {
  return isTwin({ reason })
    ? reason.replace(/Id.* is in .*/s, 'Id twice')
    : `${reason}\n${placeless(record)}`
}

function isTwin({ reason }: Pick<Reject, 'reason'>): boolean {
  return / is in the response twice/.test(reason)
}

/** The texts that the other list has not, as often as they stand there. */
function without(texts: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const other of others) left.set(other, (left.get(other) ?? 0) + 1)
  return texts.filter((text) => {
    const count = left.get(text) ?? 0
    left.set(text, count - 1)
    return count <= 0
  })
}

/** What the run says of itself adds up to what became of its scopes. */
function compareRun(
  outcomes: ReadonlyMap<string, Outcome>,
  scopes: ReadonlyMap<string, Scope>,
  exchanges: ReadonlyMap<string, readonly Exchange[]>,
  { run }: RunRows,
  differ: Differ,
): void {
  const all = [...outcomes].map(([key, outcome]) => ({ kind: scopes.get(key)?.kind, ...outcome }))
  const of = (status: string) => all.filter((each) => each.status === status).length
  const sum = (pick: (outcome: Outcome) => number, ...kinds: readonly Scope['kind'][]) =>
    all
      .filter(({ kind }) => kinds.length === 0 || kinds.includes(kind as Scope['kind']))
      .reduce((total, each) => total + pick(each), 0)
  const [failed, held, good] = [of('failed'), of('held'), of('good')]
  const isPartial = failed + held > 0 || all.some(({ isLacking }) => isLacking)
  const status = failed > 0 && good + held === 0 ? 'failed' : isPartial ? 'partial' : 'succeeded'
  const removed = (outcome: Outcome) => outcome.removed
  const expected: Record<string, unknown> = {
    status,
    scopes_planned: all.length,
    scopes_failed: failed,
    scopes_held: held,
    scopes_succeeded: good,
    rejected: sum(({ rejects }) => rejects.length),
    records_rejected: sum(({ rejectedRecords }) => rejectedRecords),
    comments_written: sum(({ written }) => written),
    comments_deleted: sum(removed, 'annotation'),
    users_removed: sum(removed, 'organization'),
    members_removed: sum(removed, 'document', 'group'),
    calls: [...exchanges.values()].reduce((total, { length }) => total + length, 0),
  }
  for (const [name, value] of Object.entries(expected))
    if (run[name] !== value) differ('', `the run's ${name} is ${run[name]}, not ${value}`)
}

function tally(outcome: Outcome, count: (what: string) => void): void {
  if (outcome.failure !== null)
    count(`failed: ${outcome.failure.errorStatus ?? `HTTP ${outcome.failure.httpStatus}`}`)
  if (outcome.status === 'held') count('held')
  if (outcome.removed > 0) count('deleted by a null, or left')
  for (const { reason } of outcome.rejects) count(`rejected: ${kindOfReason(reason)}`)
}

/** A reason without what is the record's own. */
function kindOfReason(reason: string): string {
  return reason
    .replace(/"(?:[^"\\]|\\.)*"/, '"…"')
    .replace(/^commentId -?\d+ is in/, 'commentId … is in')
    .replace(/^(from: )?.* (cannot be stored: left|holds char.* raw)/s, '$1… $2')
}

function show(value: unknown): string {
  return cut(JSON.stringify(value) ?? 'nothing')
}

function cut(text: string): string {
  return text.length > 1500 ? `${text.slice(0, 1500)}… (${text.length} characters)` : text
}
