import { STATUS_CODES } from 'node:http'
import { RUN_COUNTS } from './counts.ts'
import type { CountsOf, RunCounts } from './counts.ts'
import type { Freshness } from './freshness.ts'
import type { RunChange, RunChangesPage } from './run-change.ts'
import type { Failure, FailuresByState, Run, RunDetails } from './run.ts'
import { describeScope } from './scope.ts'
import type { SomeThingIds } from './thing.ts'
import type { Held, HeldListing } from './waiting.ts'
import { printable } from '../base/printable.ts'

/** `1,234,567`. */
export function count(n: number): string {
  return n.toLocaleString('en-US')
}

/** A number and its noun, as `sync.counted`: `1 scope`, `1,200 scopes`, `2 people`. */
export function counted(n: number, noun: string): string {
  if (n !== 1 && noun === 'person') return `${count(n)} people`
  return `${count(n)} ${noun}${n === 1 ? '' : 's'}`
}

/** `340 ms`, `12.3 s`, `3 min 05 s`, `2 h 03 min`, `4 days`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${twoDigits(whole % 60)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`
  return `${Math.round(minutes / 60 / 24)} days`
}

/** An age in minutes up to six hours, in hours up to two days, then in days. */
export function roughAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return 'less than a minute'
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 6) return `${hours} h ${minutes % 60} min`
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`
}

/** How long ago a time was, or in how long it will be. */
export function ago(date: Date): string {
  const ms = Date.now() - date.getTime()
  return ms >= 0 ? `${roughAge(ms)} ago` : `in ${roughAge(-ms)}`
}

/** ISO 8601 in UTC to the second, with a space: `2025-11-03 12:00:00Z`. */
export function time(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace('T', ' ')}Z`
}

/** The first digits of the ID of a run, which every command accepts. */
export function shortId(runId: string): string {
  return runId.slice(0, 8)
}

/** One line of at most `max` characters, cut after a word if possible. */
export function shorten(text: string, max: number): string {
  const line = printable(text.replace(/\s+/g, ' ').trim())
  if (line.length <= max) return line
  const wordEnd = line.lastIndexOf(' ', max - 1)
  return `${line.slice(0, wordEnd > max / 2 ? wordEnd : max - 1).toWellFormed()}…`
}

/** Descriptions of failed calls (`Shape` in src/core/service/errors.ts). */
const RESPONSE_WORDS: Readonly<Record<string, string>> = {
  timeout: 'no response in time',
  connection: 'the connection broke',
  unreachable: 'no connection',
  body_cut: 'a truncated response',
  body_empty: 'an empty response',
  body_unreadable: 'an unreadable response',
  body_not_utf8: 'a body that is not UTF-8',
  web_page: 'a web page',
  body_ambiguous: 'an ambiguous response',
  body_too_large: 'a response that is too large',
  headers_too_large: 'headers that are too large',
  too_many_records: 'a response with too many records',
  no_data: 'a response without data',
  error_without_code: 'an error without a code',
  failed_status: 'a response that reports a failure',
  redirect: 'a redirect',
  throttled: 'too many calls',
  breaker_open: 'not called after repeated failures',
}

/** How a call failed: `an unreadable response (HTTP 200 body_unreadable)`. */
export function describeFailure({
  httpStatus,
  errorStatus,
}: Pick<Failure, 'httpStatus' | 'errorStatus'>): string {
  // The status is that of the calls before.
  if (errorStatus === 'breaker_open' && httpStatus !== null)
    return `${RESPONSE_WORDS[errorStatus]} (${errorStatus}, the last of them HTTP ${httpStatus})`
  const words =
    RESPONSE_WORDS[errorStatus ?? ''] ??
    (httpStatus === null ? undefined : STATUS_CODES[httpStatus])
  const codes = [httpStatus && `HTTP ${httpStatus}`, errorStatus].filter(Boolean).join(' ')
  if (words === undefined) return codes || 'no response'
  return `${words} (${codes})`
}

export const NO_WORKER =
  'No worker is running. The run continues when one starts (`collab-sync worker`).'

/** Describes held listings, as `sync.attention`. */
export function describeHeld({ listings, people }: Pick<Held, 'listings' | 'people'>): string {
  return `${counted(people, 'person')} ${people === 1 ? 'is' : 'are'} missing from ${counted(listings, 'listing')}, and collab-sync removed none of them.`
}

/** Describes what the service returned for a held listing, and what became of the removal. */
export function describeRemoval(of: Omit<HeldListing, 'firstMissingUserIds'>): string {
  const why = of.reason === null ? '' : `: ${of.reason.replace(/\.$/, '')}`
  const decision =
    of.decidedAt === null
      ? `Their removal has been held since ${time(of.at)} and waits for a decision.`
      : `${of.decidedBy} refused their removal at ${time(of.decidedAt)}${why}.`
  return `The response contained ${counted(of.usersReturned, 'user')}; ${count(of.usersMissing)} of ${counted(of.usersBefore, 'stored user')} were missing. ${decision}`
}

/** The name of a listing, such as `document plan of acme`. */
export function listingName(
  listing: Pick<HeldListing, 'kind' | 'organizationId' | 'documentId' | 'organizationUserGroupId'>,
): string {
  const { organizationId, documentId, organizationUserGroupId } = listing
  if (listing.kind === 'document') return `document ${documentId} of ${organizationId}`
  if (listing.kind === 'group') return `user group ${organizationUserGroupId} of ${organizationId}`
  return `organization ${organizationId}`
}

/** Describes refused removals. */
export function describeKept({ listings, people }: Pick<Held, 'listings' | 'people'>): string {
  return `${counted(people, 'person')} kept in ${counted(listings, 'listing')}`
}

/** Describes rejected records and fields, as `sync.attention`: `3 records and 2 fields of stored records`. */
export function describeRejected(records: number, fields: number): string {
  const stored = fields === 1 ? 'a stored record' : 'stored records'
  const parts = [
    records > 0 && counted(records, 'record'),
    fields > 0 && `${counted(fields, 'field')} of ${stored}`,
  ]
  return parts.filter(Boolean).join(' and ')
}

/** The kind of a rejected record. */
export function rejectedNoun({ isField }: { isField: boolean }): string {
  return isField ? 'field of a stored record' : 'record'
}

/**
 * Describes counts of a run: `270 succeeded, 9 failed`. It omits zeros after the first count, and all zeros of what was
 * checked.
 */
export function describeCounts<Of extends keyof RunCounts>(
  run: Readonly<Record<CountsOf<Of>, number>>,
  of: Of,
  mark: (text: string, name: string) => string = (text) => text,
): string {
  const counts: readonly (readonly [string, CountsOf<Of>])[] = RUN_COUNTS[of]
  const described = counts
    .filter(([, name], place) => (place === 0 && of !== 'checked') || run[name] > 0)
    .map(([words, name]) => {
      const noun = words.replace('(s)', run[name] === 1 ? '' : 's')
      return mark(`${count(run[name])} ${noun}`, name)
    })
  return described.join(', ') || 'nothing'
}

const STOPPING = { cancelled: 'being cancelled', failed: 'being stopped' } as const

/** The status of a run, or that the run is about to end early. */
export function describeStatus({ status, stopping }: Pick<Run, 'status' | 'stopping'>): string {
  const isOpen = status === 'queued' || status === 'running'
  return stopping !== null && isOpen ? STOPPING[stopping] : status
}

/** Describes the request of a run. */
export function describeRequest(run: Pick<Run, 'scope' | 'retryOf' | 'failing'>): string {
  if (run.retryOf !== null) return `failed scopes of run ${shortId(run.retryOf)}`
  return describeScope(run.scope) + (run.failing ? ', failing scopes only' : '')
}

export const FAILURE_STATES: Readonly<Record<Failure['state'], string>> = {
  failing: 'still failing',
  resolved: 'resolved',
  left_catalog: 'left the catalog',
}

/** Describes failed scopes: `3 still failing, 2 resolved, 1 left the catalog`. */
export function describeStates({ failing, resolved, leftCatalog }: FailuresByState): string {
  return nonZero([
    [failing, FAILURE_STATES.failing],
    [resolved, FAILURE_STATES.resolved],
    [leftCatalog, FAILURE_STATES.left_catalog],
  ])
}

/** Why a run without failing scopes cannot be retried. */
export function nothingToRetry({
  runId,
  failuresByState: { resolved, leftCatalog },
}: Pick<RunDetails, 'runId' | 'failuresByState'>): string {
  const failed = resolved + leftCatalog
  if (failed === 0) return `Nothing failed in run ${runId}.`
  const [which, has] = failed === 1 ? ['The scope', 'has'] : [`All ${count(failed)} scopes`, 'have']
  const became = [
    resolved > 0 && `${has} been resolved`,
    leftCatalog > 0 && (resolved > 0 ? 'left the catalog' : `${has} left the catalog`),
  ].filter(Boolean)
  return `${which} that failed in run ${runId} ${became.join(' or ')} since.`
}

const CHANGE_WORDS: Readonly<Record<string, string>> = {
  'comment added': 'new',
  'user added': 'new',
  added: 'joined',
  removed: 'left',
  'comment restored': 'restored',
  restored: 'returned',
}

/** A change of a comment, user or member as a word. */
export function changeWord({ object, change }: Pick<RunChange, 'object' | 'change'>): string {
  return CHANGE_WORDS[`${object} ${change}`] ?? CHANGE_WORDS[change] ?? change
}

/** What a reader of the changes of a run must know besides them. */
export function notesOfChanges(page: Omit<RunChangesPage, 'items' | 'nextCursor'>): string[] {
  const { counts, finishedAt, prunedBefore, removalsAccepted } = page
  const isOver = finishedAt !== null
  const notes = [
    prunedBefore !== null &&
      `The changes of this run before ${time(prunedBefore)} were pruned and are not listed.`,
    counts.length === 0 && isOver && prunedBefore === null && 'The run changed nothing.',
    !isOver &&
      (counts.length === 0
        ? 'The run has changed nothing so far.'
        : 'The run is in progress: more changes can follow.'),
    removalsAccepted > 0 &&
      `A user accepted ${counted(removalsAccepted, 'held removal')} of this run later. These changes belong to the user and are not listed.`,
  ]
  return notes.filter((note) => note !== false)
}

/** As `describeFailure`, without an error code of the service. */
export function describeFailureInOurWords(failed: Parameters<typeof describeFailure>[0]): string {
  return describeFailure(isOurCode(failed.errorStatus) ? failed : { ...failed, errorStatus: null })
}

/** Whether collab-sync itself names a failure so. */
export function isOurCode(errorStatus: string | null): boolean {
  return Object.hasOwn(RESPONSE_WORDS, errorStatus ?? '')
}

/** The IDs of a scope or thing as a path: `acme / plan / ann-1 / 42`, `acme / group eng`, `acme / user ann`. */
export function scopePath(ids: SomeThingIds): string {
  const { organizationUserGroupId: group, userId: user } = ids
  const own = group ? `group ${group}` : user ? `user ${user}` : ids.commentId
  return [ids.organizationId, ids.documentId, ids.annotationId, own]
    .filter((id) => id != null)
    .map((id) => printable(String(id)))
    .join(' / ')
}

function twoDigits(n: number): string {
  return String(n).padStart(2, '0')
}

/** Stale scopes by reason: `3 failing, 20 never checked`. */
export function describeStale(freshness: Omit<Freshness, 'refresh'>): string {
  const { failing, notTried, tooOld, uncheckedSinceStop } = freshness
  return nonZero([
    [failing, 'failing'],
    [notTried, 'never checked'],
    [tooOld, 'not checked within FRESHNESS_PROMISE'],
    [uncheckedSinceStop, 'not checked since a full run was stopped'],
  ])
}

function nonZero(counts: readonly (readonly [n: number, words: string])[]): string {
  return counts.flatMap(([n, words]) => (n > 0 ? [`${count(n)} ${words}`] : [])).join(', ')
}

/** A word of a command, quoted for a POSIX shell if needed. */
export function inShell(word: string): string {
  return /^[\w.:@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
