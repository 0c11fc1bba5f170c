import type { Item } from '../database/claims.ts'
import { isDataFault } from '../database/connection-errors.ts'
import type { FailureCause } from '../database/runs.ts'
import type { RowOf } from '../database/statement.ts'
import * as items from '../database/statements/items.ts'
import * as holds from '../database/statements/held.ts'
import * as rejected from '../database/statements/rejected.ts'
import * as runs from '../database/statements/runs.ts'
import { count, counted, describeFailure } from '../../schemas/format.ts'
import { OPERATIONS } from '../../base/operations.ts'
import { logOfRun } from '../../base/log.ts'
import { isOfOtherServer } from '../service/unreachable.ts'
import { describeSpan, withSpan } from '../../base/trace.ts'
import { SUSPICIOUS_REFUSALS } from './run-signals.ts'
import type { RunContext } from './context.ts'

/** Finishes a run if nothing of it is pending, with all calls that this process sent for it. */
export async function finishIfDone(
  context: Parameters<typeof finishRun>[0] & { readonly sentCalls: { write(): Promise<void> } },
  runId: string,
): Promise<void> {
  if ((await items.anyPending.one(context.database, { runId })).pending) return
  // Programs that wait for the run's end read its calls then.
  await context.sentCalls.write()
  await finishRun(context, runId)
}

/**
 * Finishes a run when nothing of it is pending: adds up its items and writes its status and counts, exactly once.
 * Harmless when something is pending or it is finished already.
 * @returns its final status; null if this call did not finish it
 */
export async function finishRun(
  context: Pick<RunContext, 'database' | 'log' | 'runSignals' | 'watch'>,
  runId: string,
): Promise<string | null> {
  return withSpan('finish run', { 'collab_sync.run.id': runId }, async () => {
    const { database } = context
    const causes = await runs.causes.all(database, { runId })
    const of = { runId, heldId: null, organizationId: null, isRefused: false }
    const held = await holds.count.one(database, of)
    const lost = await rejected.wholeOfRun.one(database, { runId })
    const { hasResponse } = await runs.hasResponse.one(database, { runId })
    const problem = describeProblem(causes, hasResponse, held, lost)
    const finished = await runs.finish.first(database, { runId, problem })
    if (finished === undefined) return null
    const { status } = finished
    describeSpan({ 'collab_sync.run.status': status })
    context.runSignals.forget(runId)
    context.watch?.finished(finished)
    logOfRun(context.log, runId).info({ status }, 'run finished')
    return status
  })
}

/** Items enqueued again at a time; the rest follows the next time. */
const ITEMS_AT_A_TIME = 200

/**
 * Recovers lost items. Finishes runs that have no pending items, and enqueues items whose job is gone (Redis flushed or
 * restarted without persistence, attempts exhausted, worker killed between commit and enqueue). An item that no worker has
 * claimed may still have its job; enqueuing it again has no effect, since jobs are deduplicated by key.
 */
export async function recoverLostItems(
  context: RunContext,
  deliver: (items: readonly Item[]) => Promise<void>,
): Promise<void> {
  const { database, deadAfterS, workerId, itemsInProgress } = context
  for (const { runId } of await items.unfinished.all(database)) {
    await finishRun(context, runId).catch((error: unknown) => {
      if (!isDataFault(error)) throw error
      // One run that cannot be finished must not keep the others from it.
      context.log.error({ runId, err: error }, 'a run cannot be finished')
    })
  }
  const limit = ITEMS_AT_A_TIME
  const inProgress = [...itemsInProgress.keys()]
  const lost = await items.lost.all(database, { deadAfterS, limit, workerId, inProgress })
  if (lost.length > 0) await deliver(lost)
}

/** Causes that are listed one by one. */
const CAUSES_NAMED = 3

/** HTTP codes that show that an operation is not available at all. */
const GATE_STATUSES = new Set([400, 403, 404, 405, 409, 410, 422, 501])

/**
 * Describes the problems of a run in a few sentences; null if it has none.
 * @param hasResponse whether the service returned a valid response for any scope
 * @param held listings whose removals wait for approval, and the people missing from them
 * @param lost whole records that were rejected and that no user has set aside, with the most common reason
 */
function describeProblem(
  causes: readonly FailureCause[],
  hasResponse: boolean,
  held: RowOf<typeof holds.count>,
  lost: RowOf<typeof rejected.wholeOfRun>,
): string | null {
  const sentences = [
    describeFailures(causes, hasResponse),
    held.listings === 0
      ? null
      : `The removal of ${counted(held.people, 'person')} from ${counted(held.listings, 'listing')} was held.`,
    describeLost(lost),
  ].filter((each) => each !== null)
  return sentences.length === 0 ? null : sentences.join(' ')
}

function describeLost({ records, reason }: RowOf<typeof rejected.wholeOfRun>): string | null {
  if (records === 0) return null
  const why = reason === null ? '' : records === 1 ? ` (${reason})` : ` (mostly: ${reason})`
  return `The run rejected ${counted(records, 'record')} that ${records === 1 ? 'was' : 'were'} not set aside${why}.`
}

function describeFailures(causes: readonly FailureCause[], hasResponse: boolean): string | null {
  const [first] = causes
  if (first === undefined) return null
  const failed = causes.reduce((sum, { scopes }) => sum + scopes, 0)
  const isOnly = causes.length === 1
  const named = causes.slice(0, CAUSES_NAMED).map((cause) => describeCause(cause, isOnly))
  const more =
    causes.length > CAUSES_NAMED
      ? `; and ${counted(causes.length - CAUSES_NAMED, 'other cause')}`
      : ''
  const throttled = causes.some(({ errorStatus }) => errorStatus === 'throttled')
    ? ' The service throttled every call for longer than SYNC_THROTTLED_MAX_MS.'
    : ''
  const areAllForbidden =
    !hasResponse && failed >= SUSPICIOUS_REFUSALS && causes.every(isForbiddenCause)
  const isOneOperation = causes.every(({ operation }) => operation === first.operation)
  const isElsewhere =
    !hasResponse &&
    causes.every((cause) => isOfOtherServer(cause) || cause.errorStatus === 'breaker_open')
  const everyCall = areAllForbidden ? FORBIDDEN : isElsewhere ? ELSEWHERE : ''
  const likely = (areAllForbidden || isElsewhere) && !isOneOperation ? '' : likelyCause(first)
  const total = isOnly ? '' : `${counted(failed, 'scope')} failed: `
  return `${total}${named.join('; ')}${more}.${throttled}${everyCall}${likely}`
}

function isForbiddenCause({ httpStatus, errorStatus }: FailureCause): boolean {
  return httpStatus === 403 || errorStatus === 'PERMISSION_DENIED'
}

/** What to check when the service refuses every call. */
export const CREDENTIALS =
  'COLLAB_API_KEY and COLLAB_AUTH_TOKEN (or the files that contain them), and their rights'

const FORBIDDEN = ` Every call was refused: check ${CREDENTIALS}.`

const ELSEWHERE =
  ' No response seems to be from the service: check COLLAB_API_URL with `collab-sync doctor`.'

/** @param isOnly whether no total with a verb precedes it */
function describeCause(cause: FailureCause, isOnly: boolean): string {
  const { operation, httpStatus, errorStatus, scopes, organizations } = cause
  const what = counted(scopes, `${operation} scope`)
  const where = organizations > 1 ? ` in ${count(organizations)} organizations` : ''
  const be = isOnly ? (scopes === 1 ? ' was' : ' were') : ''
  if (errorStatus === 'breaker_open') return `${what}${where}${be} skipped after such failures`
  if (errorStatus === 'throttled') return `${what}${where}${be} skipped`
  return `${what}${isOnly ? ' failed' : ''}${where}: ${describeFailure({ httpStatus, errorStatus })}`
}

function likelyCause({ operation, httpStatus, organizations }: FailureCause): string {
  if (organizations < 2 || httpStatus === null || !GATE_STATUSES.has(httpStatus)) return ''
  return ` If that operation fails everywhere: ${OPERATIONS[operation].condition}; SYNC_OPERATIONS can leave it out.`
}
