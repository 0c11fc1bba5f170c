import type { Wait } from '../../schemas/run.ts'
import { counted, describeFailureInOurWords, time } from '../../schemas/format.ts'
import type { Log } from '../../base/log.ts'
import type { ServiceWait } from '../service/health.ts'
import type { SyncContext } from './context.ts'

/** What a worker waits for, as far as the part that waits knows it. */
export interface FoundWait extends Omit<ServiceWait, 'kind'> {
  readonly kind: Wait['kind']
  /** Of `retry`: the job that failed, and its run. */
  readonly failure?: string
  readonly runId?: string | undefined
  /** Of `lock`: whose lock it is. */
  readonly lock?: string
  /** Of `paused_by_person`: who ordered the pause, and why. */
  readonly by?: string
  readonly reason?: string | null
}

/** What a heartbeat says of a wait. */
export type ReportedWait = Pick<Wait, 'kind' | 'since' | 'until' | 'givesUpAt' | 'sentence'> &
  Pick<FoundWait, 'runId'>

/**
 * What this worker waits for at the moment; null where it works.
 * @param work.hasJobs whether a job is in progress
 * @param work.lock a statement that waits for a lock
 * @param work.failed a job that failed and is tried again
 * @param work.refresh continuous refresh; null where this worker has none
 */
export function findWait(
  { collabApi, itemsInProgress, problems }: SyncContext,
  work: {
    hasJobs: boolean
    lock: Omit<FoundWait, 'kind'> | null
    failed: Omit<FoundWait, 'kind'> | null
    refresh: { readonly pausedUntil: Date | null } | null
  },
): FoundWait | null {
  if (work.lock !== null) return { kind: 'lock', ...work.lock }
  const pause = collabApi.operatorPause()
  if (pause !== null && (work.hasJobs || work.refresh !== null))
    return { kind: 'paused_by_person', ...pause }
  const ofCalls = collabApi.waiting()
  if (ofCalls !== null) return ofCalls
  const batches = [...itemsInProgress.values()]
  if (batches.length > 0 && batches.every((ended) => ended === null)) return { kind: 'overtaken' }
  if (work.failed !== null) return { kind: 'retry', ...work.failed }
  if (work.hasJobs) return null
  if (problems.queue !== null) return { kind: 'queue' }
  if (work.refresh === null) return { kind: 'idle' }
  const { pausedUntil: until } = work.refresh
  return until === null ? null : { kind: 'refresh_paused', until }
}

const LOG_EVERY_MS = 60_000

/** Makes a sentence of what the worker waits for, and logs it: when a wait begins, each minute, and when it ends. */
export class ReportedWaits {
  readonly #log: Log
  readonly #retries: number
  #last: ReportedWait | null = null
  #isLogged = false
  /** By kind, so that waits that come and go are logged once a minute as well. */
  readonly #loggedAtMs = new Map<string, number>()

  /** @param retries `SYNC_RETRIES` */
  constructor(log: Log, retries: number) {
    this.#log = log
    this.#retries = retries
  }

  /** A job begins: a wait for work is over, even if the job ends before the next heartbeat. */
  workBegins(): void {
    if (this.#last?.kind === 'idle' || this.#last?.kind === 'queue') this.report(null)
  }

  /** Takes what the worker waits for now, and returns it with its sentence. To be called with each heartbeat. */
  report(found: FoundWait | null): ReportedWait | null {
    const last = this.#last
    if (last !== null && last.kind !== found?.kind && this.#isLogged) {
      this.#isLogged = false
      this.#log.info({ waiting: last.kind, since: last.since }, 'the wait is over')
    }
    if (found === null) return (this.#last = null)
    const { kind, runId, until = null, givesUpAt = null } = found
    const since = found.since ?? (last?.kind === kind ? last.since : new Date())
    const sentence = `Waiting since ${time(since)}: ${this.#explain(found)}`
    this.#last = { kind, since, until, givesUpAt, sentence, runId }
    const nowMs = performance.now()
    // A worker without work is no news.
    if (kind !== 'idle' && nowMs - (this.#loggedAtMs.get(kind) ?? -Infinity) >= LOG_EVERY_MS) {
      this.#loggedAtMs.set(kind, nowMs)
      this.#isLogged = true
      this.#log[kind === 'lock' ? 'warn' : 'info'](
        { waiting: kind, since, until, givesUpAt },
        sentence,
      )
    }
    return this.#last
  }

  #explain(found: FoundWait): string {
    const { kind, callsPerSecond, isPace, server, failure, lock, error, until, givesUpAt } = found
    const end = givesUpAt ? ` Gives up at ${time(givesUpAt)} (SYNC_THROTTLED_MAX_MS).` : ''
    switch (kind) {
      case 'throttled': {
        const status = error?.httpStatus ? ` (HTTP ${error.httpStatus})` : ''
        const what = error
          ? `the service throttles the calls${status}.`
          : 'the service throttles another process, and all processes pause.'
        return `${what}${until ? ` Next try at ${time(until)}.` : ''}${end}`
      }
      case 'rate_limit':
        return `calls wait for their slots ${isPace ? 'at the pace that was set' : 'under SYNC_RATE_LIMIT'} (${callsPerSecond} a second for all processes).`
      case 'rate_limit_store':
        return `${server} does not respond. It stores the rate limit that all processes share, and no call is sent until it responds.`
      case 'away': {
        const what = error?.kind === 'unreachable' ? 'cannot be reached' : 'takes no call'
        const last = error ? ` The last try ended with: ${describeFailureInOurWords(error)}.` : ''
        const tries = ` Each call is tried ${counted(this.#retries + 1, 'time')} (SYNC_RETRIES), then the run continues without its scope.`
        return `the service ${what}.${last}${end || tries}`
      }
      case 'overtaken':
        return 'another run wrote to the same batch. Its scopes are fetched again after a pause.'
      case 'lock':
        return `a statement waits for ${lock}.`
      case 'retry':
        return `${failure}${until ? ` Next try at ${time(until)}.` : ''}`
      case 'queue':
        return 'the queue is unavailable, so no job can be taken.'
      case 'paused_by_person':
        return `the calls are paused by ${found.by} until ${time(until as Date)}${found.reason ? `: ${found.reason}` : '.'}`
      case 'refresh_paused':
        return `continuous refresh is paused${until ? ` until ${time(until)}` : ''}.`
      case 'idle':
        return 'there is no job to do.'
    }
  }
}
