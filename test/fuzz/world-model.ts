import { digestOfRejected } from '../../src/core/sync/record/digest.ts'
import { readResponse } from './response-model.ts'
import type { ServiceResponse, Exchange } from './response-model.ts'
import { AnnotationModel, contentOf } from './comments-model.ts'
import type { CommentSighting, CommentsOutcome, Outcome, StoredComment } from './comments-model.ts'
import type { CommentRow, MemberRow, ScopeRow, Tables } from './tables.ts'
import { PeopleModel, SOURCE } from './people-model.ts'
import type { Scope } from './layout.ts'
import { scopeKey } from './service.ts'
import { ListingModel } from './users-model.ts'
import type { UsersOutcome } from './users-model.ts'

/** Where the tables are not what the model says; `key` is the scope. */
export interface Difference {
  readonly key: string
  readonly says: string
}

/** Most ids in one call, `SYNC_MAX_IDS`. */
export const MAX_IDS = 2
/** Failures in a row after which an organization may be spared further calls. */
const FAILURES_TO_BREAK = 5

/** All scopes of a catalog with what is stored of them, and what the answers of each run make of it. */
export class WorldModel {
  readonly #annotations = new Map<string, AnnotationModel>()
  readonly #listings = new Map<string, ListingModel>()
  readonly #people = new Map<string, PeopleModel>()
  readonly #scopes: ReadonlyMap<string, Scope>
  readonly #maxBodyBytes: number
  readonly #sightings: { people: PeopleModel; sightings: readonly CommentSighting[] }[] = []

  constructor(scopes: Iterable<Scope>, maxBodyBytes: number) {
    this.#scopes = new Map([...scopes].map((scope) => [keyOfScope(scope), scope]))
    this.#maxBodyBytes = maxBodyBytes
    for (const [key, scope] of this.#scopes) {
      if (scope.kind === 'annotation') this.#annotations.set(key, new AnnotationModel())
      else this.#listings.set(key, new ListingModel())
      if (scope.kind === 'organization') this.#people.set(scope.organizationId, new PeopleModel())
    }
  }

  /**
   * Applies what the service answered in one run, and compares what the tables hold after it.
   * @param count called with what the answers were, for the tally
   */
  compare(
    exchanges: ReadonlyMap<string, readonly Exchange[]>,
    tables: Tables,
    count: (what: string) => void,
  ): Difference[] {
    const differences: Difference[] = []
    const differ = (key: string, says: string) => void differences.push({ key, says })
    const outcomes = new Map<string, Outcome>()
    for (const [key, scope] of this.#scopes) {
      const calls = (exchanges.get(key) ?? []).map((exchange) => ({
        ids: exchange.ids,
        answer: readResponse(exchange, this.#maxBodyBytes),
      }))
      try {
        const told = tables.scopes.get(key)?.failures[0] ?? null
        const outcome = calls.length === 0 ? NOT_ASKED : this.#apply(key, scope, calls, told)
        outcomes.set(key, outcome)
        tally(outcome, count)
      } catch (error) {
        differ(key, (error as Error).message)
      }
    }
    for (const [key, outcome] of outcomes)
      compareOutcome(key, outcome, tables.scopes.get(key), differ)
    for (const key of tables.scopes.keys())
      if (!this.#scopes.has(key)) differ(key, 'a row of no scope')
    this.#checkSpared(outcomes, differ)
    for (const [key, annotation] of this.#annotations)
      compareComments(key, annotation.comments, tables.comments.get(key), differ)
    for (const [key, listing] of this.#listings)
      if (this.#scopes.get(key)?.kind !== 'organization')
        compareMembers(key, listing.members, tables.members.get(key), differ)
    this.#seeAuthors()
    this.#comparePeople(tables, differ)
    compareRun(outcomes, this.#scopes, exchanges, tables, differ)
    return differences
  }

  #apply(
    key: string,
    scope: Scope,
    calls: { ids: readonly number[] | null; answer: ServiceResponse }[],
    told: Outcome['failure'],
  ): Outcome {
    const people = this.#people.get(scope.organizationId) as PeopleModel
    const annotation = this.#annotations.get(key)
    if (annotation !== undefined) {
      const outcome = annotation.apply(calls, MAX_IDS, told)
      this.#sightings.push({ people, sightings: outcome.sightings })
      return outcome
    }
    if (calls.length !== 1) throw new Error(`asked ${calls.length} times`)
    const outcome = (this.#listings.get(key) as ListingModel).apply(
      (calls[0] as { answer: ServiceResponse }).answer,
    )
    const source = scope.kind === 'organization' ? SOURCE.listing : SOURCE.member
    for (const users of outcome.sightings) people.see({ source, at: null, users })
    if (scope.kind === 'organization') for (const id of outcome.left) people.leave(id)
    return outcome
  }

  /** The authors of comments that were written; which of twins was is known by now. */
  #seeAuthors(): void {
    for (const { people, sightings } of this.#sightings.splice(0)) {
      for (const { comment, unless } of sightings) {
        const [written] = comment.candidates
        if (written === undefined || written.author === null || unless.has(contentOf(written)))
          continue
        const { author, lastUpdated: at } = written
        people.see({ source: SOURCE.author, at, users: [author] })
      }
    }
  }

  /** What was not asked was spared by the breaker, which takes failures to open. */
  #checkSpared(outcomes: ReadonlyMap<string, Outcome>, differ: Differ): void {
    const failures = new Map<string, number>()
    const groupOf = (key: string) => key.split('/').slice(0, 2).join('/')
    const isSpared = ({ failure }: Outcome) => failure?.errorStatus === 'breaker_open'
    for (const [key, outcome] of outcomes)
      if (outcome.status === 'failed' && !isSpared(outcome))
        failures.set(groupOf(key), (failures.get(groupOf(key)) ?? 0) + 1)
    for (const [key, outcome] of outcomes)
      if (isSpared(outcome) && (failures.get(groupOf(key)) ?? 0) < FAILURES_TO_BREAK)
        differ(key, 'was not asked')
  }

  #comparePeople(tables: Tables, differ: Differ): void {
    for (const [organizationId, people] of this.#people) {
      people.settle()
      const rows = tables.users.get(organizationId) ?? new Map()
      for (const [id, row] of rows) {
        if (people.accept(id, row)) continue
        const expected = people.people.get(id)
        differ(
          scopeKey('users', organizationId),
          `user ${show(id)}: ${show(row)} instead of ${show(expected)}`,
        )
      }
      for (const id of people.people.keys())
        if (!rows.has(id)) differ(scopeKey('users', organizationId), `no row of user ${show(id)}`)
    }
  }
}

type Differ = (key: string, says: string) => void

const NOT_ASKED: Outcome = {
  status: 'failed',
  failure: { httpStatus: null, errorStatus: 'breaker_open' },
  rejects: [],
  rejectedRecords: 0,
  isLacking: false,
}

/** The key by which a scope is found. */
export function keyOfScope({
  kind,
  organizationId,
  documentId,
  annotationId,
  groupId,
}: Scope): string {
  const operation = kind === 'annotation' ? 'comments' : 'users'
  return scopeKey(operation, organizationId, documentId, annotationId, groupId)
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
    else if (outcome !== NOT_ASKED && failure.httpStatus !== expected.httpStatus)
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
function textOfReject({ reason, record }: { reason: string; record: string }): string {
  return isTwin({ reason })
    ? reason.replace(/Id.* is in .*/s, 'Id twice')
    : `${reason}\n${placeless(record)}`
}

function isTwin({ reason }: { reason: string }): boolean {
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

function compareComments(
  key: string,
  comments: ReadonlyMap<number, StoredComment>,
  rows: ReadonlyMap<number, CommentRow> = new Map(),
  differ: Differ,
): void {
  for (const [id, row] of rows)
    if (!comments.has(id)) differ(key, `comment ${id} is extra: ${show(row)}`)
  for (const [id, comment] of comments) {
    const row = rows.get(id)
    if (row === undefined) {
      differ(key, `comment ${id} is missing`)
      continue
    }
    const same = comment.candidates.filter((candidate) => contentOf(candidate) === row.content)
    if (same.length === 0) {
      const expected = contentOf(comment.candidates[0] as (typeof comment.candidates)[0])
      differ(key, `comment ${id}: ${row.content} instead of ${expected}`)
    } else comment.candidates = same.slice(0, 1)
    if (row.deleted !== comment.deleted) differ(key, `comment ${id}: deleted is ${row.deleted}`)
    const [low, high] = comment.version
    if (row.version < low || row.version > high || row.versions !== row.version)
      differ(
        key,
        `comment ${id}: ${row.versions} versions up to ${row.version}, not ${low} to ${high}`,
      )
    else comment.version = [row.version, row.version]
    if (comment.change !== '' && row.change !== comment.change)
      differ(key, `comment ${id}: ${row.change}, not ${comment.change}`)
    comment.change = row.change
  }
}

function compareMembers(
  key: string,
  members: ReadonlyMap<string, boolean>,
  rows: ReadonlyMap<string, MemberRow> = new Map(),
  differ: Differ,
): void {
  for (const id of rows.keys()) if (!members.has(id)) differ(key, `member ${show(id)} is extra`)
  for (const [id, isIn] of members)
    if (rows.get(id)?.isIn !== isIn)
      differ(key, `member ${show(id)}: ${show(rows.get(id))} instead of ${isIn}`)
}

/** What the run says of itself adds up to what became of its scopes. */
function compareRun(
  outcomes: ReadonlyMap<string, Outcome>,
  places: ReadonlyMap<string, Scope>,
  exchanges: ReadonlyMap<string, readonly Exchange[]>,
  { run }: Tables,
  differ: Differ,
): void {
  const all = [...outcomes.values()]
  const of = (status: string) => all.filter((each) => each.status === status).length
  const sum = (pick: (outcome: Outcome) => number) =>
    all.reduce((total, each) => total + pick(each), 0)
  const comments = all.filter((each): each is CommentsOutcome => 'written' in each)
  const removed = (fromOrganizations: boolean) =>
    [...outcomes]
      .filter(([key]) => (places.get(key)?.kind === 'organization') === fromOrganizations)
      .reduce(
        (total, [, each]) => total + ('left' in each ? (each as UsersOutcome).left.length : 0),
        0,
      )
  const [failed, held, good] = [of('failed'), of('held'), of('good')]
  const rejectedRecords = sum(({ rejectedRecords: records }) => records)
  const isPartial = failed + held > 0 || all.some(({ isLacking }) => isLacking)
  const status = failed > 0 && good + held === 0 ? 'failed' : isPartial ? 'partial' : 'succeeded'
  const expected: Record<string, unknown> = {
    status,
    scopes_planned: all.length,
    scopes_failed: failed,
    scopes_held: held,
    scopes_succeeded: good,
    rejected: sum(({ rejects }) => rejects.length),
    records_rejected: rejectedRecords,
    comments_deleted: comments.reduce((total, { deleted }) => total + deleted, 0),
    users_removed: removed(true),
    members_removed: removed(false),
    calls: [...exchanges.values()].reduce((total, { length }) => total + length, 0),
  }
  for (const [name, value] of Object.entries(expected))
    if (run[name] !== value) differ('', `the run's ${name} is ${run[name]}, not ${value}`)
  const [least, most] = [0, 1].map((at) =>
    comments.reduce((total, { written }) => total + (written[at] as number), 0),
  ) as [number, number]
  const written = run['comments_written'] as number
  if (written < least || written > most)
    differ('', `comments_written is ${written}, not ${least} to ${most}`)
}

function tally(outcome: Outcome | UsersOutcome, count: (what: string) => void): void {
  if (outcome.failure !== null)
    count(`failed: ${outcome.failure.errorStatus ?? `HTTP ${outcome.failure.httpStatus}`}`)
  if (outcome.status === 'held') count('held')
  if ('deleted' in outcome && (outcome.deleted as number) > 0) count('deleted by a null')
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
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 1500 ? `${text.slice(0, 1500)}… (${text.length} characters)` : text
}
