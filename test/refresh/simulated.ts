import { setImmediate } from 'node:timers/promises'
import { createLog } from '../../src/base/log.ts'
import { setDefinitions } from '../../src/core/database/definitions.ts'
import * as refresh from '../../src/core/database/statements/refresh.ts'
import { RunSignals } from '../../src/core/run/context.ts'
import { readAnswer } from '../../src/core/service/answer.ts'
import type { Call, CollabApi } from '../../src/core/service/client.ts'
import type { CommentsFilter } from '../../src/core/service/filters.ts'
import { MemoryBudget } from '../../src/core/service/memory.ts'
import { NO_RATE_LIMIT } from '../../src/core/service/wait.ts'
import type { SharedRateLimit } from '../../src/core/service/wait.ts'
import type { SyncContext } from '../../src/core/sync/context.ts'
import { SentCalls } from '../../src/core/sync/counts.ts'
import { ScopeSlots } from '../../src/core/sync/fetch/slots.ts'
import { Random } from '../../src/demo/random.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { ObservedMembers } from '../../src/features/observe/observed-members.ts'
import { RulesKeeper } from '../../src/features/privacy/rules.ts'
import { Refresher } from '../../src/features/refresh/refresher.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

const DAY = 86_400
const HISTORY_S = 30 * DAY

/** Times of the comments of each annotation, in seconds from the start of the world; earlier ones are negative. */
export type Activity = readonly (readonly number[])[]

/**
 * Comments come in sessions, at random times and with more and more time between them. Annotations differ in how many sessions
 * they have. @param hasBursts false for single comments at random times
 */
export function makeActivity(
  { annotations, days, seed }: { annotations: number; days: number; seed: number },
  hasBursts = true,
): Activity {
  const random = new Random(seed)
  const exponential = (mean: number) => -Math.log(1 - random.next()) * mean
  return Array.from({ length: annotations }, () => {
    const betweenS = ((4 + exponential(20)) * DAY) / (hasBursts ? 1 : 4)
    const times: number[] = []
    for (let at = -HISTORY_S + exponential(betweenS); at < days * DAY; at += exponential(betweenS))
      for (let next = at, gapS = 240; next < days * DAY; gapS *= 2) {
        times.push(next)
        if (!hasBursts || random.next() < 0.15) break
        next += exponential(gapS)
      }
    return times.sort((one, other) => one - other)
  })
}

interface Simulation {
  /** Also the budget. */
  readonly callsPerDay: number
  /** Changes before it are not measured. */
  readonly measureFromS: number
  readonly days: number
  readonly promiseS: number
  readonly beginMs: number
}

/** The service of a simulated world, whose clock advances with each call. */
export class SimulatedService {
  readonly #activity: Activity
  readonly #options: Simulation
  readonly #seen: number[]
  readonly #lastPollS: number[]
  readonly #digests = new Map<number, { readonly seen: number; readonly digest: Buffer }>()
  #turns: Promise<void> = Promise.resolve()
  #responded: () => void = () => {}
  /** Seconds from each measured change to the response that showed it first. */
  readonly delays: number[] = []
  /** When a response first showed a comment, by `annotation comment`. */
  readonly shownAt = new Map<string, Date>()
  /** The longest time between two polls of one annotation. */
  worstAgeS = 0
  calls = 0
  nowS = 0

  constructor(activity: Activity, options: Simulation) {
    this.#activity = activity
    this.#options = options
    this.#seen = activity.map(() => 0)
    this.#lastPollS = activity.map(() => 0)
  }

  get now(): Date {
    return this.#dateOf(this.nowS)
  }

  #dateOf(seconds: number): Date {
    return new Date(this.#options.beginMs + Math.round(seconds * 1000))
  }

  /** The clock advances after the previous call has its response. */
  async takeTurn(stepS: number): Promise<void> {
    const before = this.#turns
    let responded = () => {}
    this.#turns = new Promise((resolve) => (responded = resolve))
    await before
    await setImmediate()
    this.#responded = responded
    this.nowS += stepS
  }

  /** Counts the changes that no response has shown with their age. */
  end(): void {
    for (const index of this.#activity.keys()) this.#poll(index)
  }

  api(): CollabApi {
    return {
      getComments: async (filter, call) => this.#comments(filter, call),
      getUsers: () => Promise.reject(new Error('There are no users in this world.')),
      memory: new MemoryBudget(),
      concurrency: () => ({ inFlight: 0, limit: 1, waiting: 0, latencyMsEwma: null }),
      waiting: () => null,
      startAfresh: () => {},
      close: async () => {},
    }
  }

  #poll(index: number): number {
    const { measureFromS } = this.#options
    const times = this.#activity[index] ?? []
    const { nowS } = this
    if (nowS >= measureFromS)
      this.worstAgeS = Math.max(this.worstAgeS, nowS - (this.#lastPollS[index] ?? 0))
    this.#lastPollS[index] = nowS
    let seen = this.#seen[index] ?? 0
    for (; (times[seen] ?? Infinity) <= nowS; seen += 1) {
      const atS = times[seen] ?? 0
      if (atS >= measureFromS) this.delays.push(nowS - atS)
      if (atS > 0) this.shownAt.set(`${index} ${seen + 1}`, this.now)
    }
    return (this.#seen[index] = seen)
  }

  async #comments(filter: CommentsFilter, call: Call = {}) {
    const allowed = call.beforeTry?.()
    if (allowed) await allowed
    try {
      return this.#respond(filter, call)
    } finally {
      this.#responded()
    }
  }

  #respond(filter: CommentsFilter, { knownDigest, stats }: Call) {
    const index = Number(filter.annotationId)
    const seen = this.#poll(index)
    this.calls += 1
    if (stats !== undefined) stats.calls += 1
    const last = this.#digests.get(index)
    if (last?.seen === seen && knownDigest?.equals(last.digest))
      return { status: 'unchanged', digest: last.digest } as const
    const data = (this.#activity[index] ?? []).slice(0, seen).map((atS, number) => ({
      commentId: number + 1,
      commentText: `comment ${number}`,
      lastUpdated: this.#dateOf(atS).toISOString(),
    }))
    const body = Buffer.from(JSON.stringify({ result: { status: 'success', message: 'ok', data } }))
    const reply = { httpStatus: 200, retryAfterMs: null, body }
    const answer = readAnswer(reply, { operation: 'comments', filter, secrets: [] }, knownDigest)
    this.#digests.set(index, { seen, digest: answer.digest })
    return answer
  }
}

/** Runs the program's own planner, statements and commits on the clock of the world. */
export async function simulate(
  activity: Activity,
  options: Simulation,
  check: (database: TestDatabase, service: SimulatedService) => Promise<void> = async () => {},
): Promise<SimulatedService> {
  const { callsPerDay, days, promiseS } = options
  const database = await createTestDatabase()
  try {
    const lines = [...activity.keys()].map((index) => ({
      organizationId: `organization ${index % 20}`,
      documentId: `document ${index % 300}`,
      annotationId: String(index),
    }))
    await importCatalog(database.pool, listSource('world', lines), { prune: false })
    const budget = callsPerDay / DAY
    await setDefinitions(database.pool, {
      freshnessPromiseMs: promiseS * 1000,
      refreshBudget: budget,
    })
    const service = new SimulatedService(activity, options)
    let stepS = 0
    const limit: SharedRateLimit = { ...NO_RATE_LIMIT, acquire: () => service.takeTurn(stepS) }
    const clock = {
      moment: async () => ({ ...(await refresh.state.one(database.pool)), at: service.now }),
      now: () => service.now,
    }
    const refresher = new Refresher(contextOf(database, service.api()), limit, clock)
    const step = async () => {
      if ((await refresher.step()) > 0) service.nowS += 1
      await refresher.ended()
    }
    // The first pass takes no time: it reads the history.
    while (service.calls < activity.length) await step()
    stepS = 1 / budget
    while (service.nowS < days * DAY) await step()
    await check(database, service)
    service.end()
    return service
  } finally {
    await database.drop()
  }
}

function contextOf({ pool }: TestDatabase, collabApi: CollabApi): SyncContext {
  const log = createLog('warn')
  return {
    collabApi,
    database: pool,
    log,
    workerId: 'simulated',
    deadAfterS: 30,
    runSignals: new RunSignals(),
    problems: { queue: null, service: null },
    scopeSlots: new ScopeSlots(1),
    sentCalls: new SentCalls(pool, log),
    observed: new ObservedMembers(log),
    itemsInProgress: new Map(),
    drained: new AbortController().signal,
    rules: new RulesKeeper(pool, { email: 'keep', raw: 'keep' }),
    maxIds: 30,
    shrinkLimit: 0.5,
    heldAcceptAfter: null,
    operations: ['comments'],
  }
}
