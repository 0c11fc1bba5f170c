import type { CommentsFilter } from '../../src/base/operations.ts'
import { setImmediate } from 'node:timers/promises'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { setDefinitions } from '../../src/core/database/definitions.ts'
import * as refresh from '../../src/core/database/statements/refresh.ts'
import { createLog } from '../../src/base/log.ts'
import { RulesKeeper } from '../../src/features/privacy/rules.ts'
import { readResponse } from '../../src/core/service/response.ts'
import { MemoryBudget } from '../../src/core/service/memory.ts'
import { NO_RATE_LIMIT } from '../../src/core/service/shared-rate-limit.ts'
import type { SharedRateLimit } from '../../src/core/service/shared-rate-limit.ts'
import type { Call, CollabApi } from '../../src/core/service/client.ts'
import { RunSignals } from '../../src/core/run/run-signals.ts'
import type { SyncContext } from '../../src/core/sync/context.ts'
import { SentCalls } from '../../src/core/sync/counts.ts'
import { ScopeSlots } from '../../src/core/sync/fetch/slots.ts'
import { ObservedMembers } from '../../src/features/observe/observed-members.ts'
import { Refresher } from '../../src/features/refresh/refresher.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import type { Activity } from './activity.ts'

const DAY = 86_400

/** What refresh gave: times in seconds, of the changes from the first measured day on. */
export interface Outcome {
  readonly delays: readonly number[]
  /** The longest time between two looks at one annotation. */
  readonly worstAgeS: number
}

/** A change that a listing showed: of a comment that is new, or whose lastUpdated moved. Times of the world's clock. */
export interface Sight {
  readonly organization: number
  readonly index: number
  readonly id: number
  readonly atMs: number
  /** The first look that showed it, and those after it that did not know that one: its answer may have been thrown away. */
  readonly looksMs: number[]
}

/** The service of a made-up world, whose clock moves with each call. */
export class SimulatedService {
  readonly #activity: Activity
  readonly #beginMs: number
  readonly #measureFromS: number
  readonly #seen: Int32Array
  readonly #lastLook: Float64Array
  readonly #bodies = new Map<number, { readonly events: number; readonly digest: Buffer }>()
  readonly delays: number[] = []
  /** What listings have shown since the first of each annotation. */
  readonly sights: Sight[] = []
  readonly #shown = new Map<number, Shown>()
  #turns: Promise<void> = Promise.resolve()
  #answered: () => void = () => {}
  worstAgeS = 0
  calls = 0
  nowS = 0

  constructor(
    activity: Activity,
    { beginMs, measureFromS }: { beginMs: number; measureFromS: number },
  ) {
    this.#activity = activity
    this.#beginMs = beginMs
    this.#measureFromS = measureFromS
    this.#seen = new Int32Array(activity.annotations.length)
    this.#lastLook = new Float64Array(activity.annotations.length)
  }

  /** By the clock of the world. */
  get now(): Date {
    return new Date(this.#beginMs + Math.round(this.nowS * 1000))
  }

  /** A look at an annotation: what it sees was delayed until now. */
  check(index: number): number {
    const { events, knownS } = this.#annotation(index)
    const { nowS } = this
    const isMeasured = nowS >= this.#measureFromS
    this.calls += 1
    const before = Math.max(this.#lastLook[index] ?? 0, knownS)
    if (isMeasured) this.worstAgeS = Math.max(this.worstAgeS, nowS - before)
    this.#lastLook[index] = nowS
    let seen = this.#seen[index] ?? 0
    for (; (events[seen]?.atS ?? Infinity) <= nowS; seen += 1) {
      const atS = events[seen]?.atS ?? 0
      if (atS >= this.#measureFromS) this.delays.push(nowS - Math.max(atS, knownS))
    }
    this.#seen[index] = seen
    return seen
  }

  /** The clock moves when each call before is answered: what an answer shows was seen at the time of its call. */
  async takeTurn(stepS: number): Promise<void> {
    const before = this.#turns
    let answered = () => {}
    this.#turns = new Promise((resolve) => (answered = resolve))
    await before
    await setImmediate()
    this.#answered = answered
    this.nowS += stepS
  }

  /** What came of it all; what nobody has seen yet counts with its age. */
  outcome(): Outcome {
    const { nowS } = this
    const unseen = this.#activity.annotations.flatMap(({ events, knownS }, index) =>
      events
        .slice(this.#seen[index])
        .filter(({ atS }) => atS >= this.#measureFromS && atS <= nowS)
        .map(({ atS }) => Math.max(0, nowS - Math.max(atS, knownS))),
    )
    const delays = [...this.delays, ...unseen].sort((one, other) => one - other)
    for (const [index, { knownS }] of this.#activity.annotations.entries())
      this.worstAgeS = Math.max(this.worstAgeS, nowS - Math.max(this.#lastLook[index] ?? 0, knownS))
    return { delays, worstAgeS: this.worstAgeS }
  }

  /** The service as the program sees it. */
  api(): CollabApi {
    return {
      get: async (operation, filter, call) => {
        if (operation !== 'comments') throw new Error('There are only comments in this world.')
        return this.#comments(filter as CommentsFilter, call)
      },
      memory: new MemoryBudget(),
      concurrency: () => ({
        permits: 0,
        inFlight: 0,
        limit: 1,
        waiting: 0,
        latencyMsEwma: null,
        isPaused: false,
      }),
      waiting: () => null,
      operatorPause: () => null,
      countWaits: () => {},
      startAfresh: () => {},
      close: async () => {},
    }
  }

  async #comments(filter: CommentsFilter, call: Call = {}) {
    const allowed = call.beforeTry?.()
    if (allowed) await allowed
    try {
      return this.#answer(filter, call)
    } finally {
      this.#answered()
    }
  }

  #answer(filter: CommentsFilter, call: Call) {
    const index = Number(filter.annotationId)
    const events = this.check(index)
    if (call.stats !== undefined) call.stats.calls += 1
    const known = this.#bodies.get(index)
    const isAsKnown = filter.commentIds === undefined && known?.events === events
    if (isAsKnown && call.knownDigest?.equals(known.digest))
      return { status: 'unchanged', digest: known.digest } as const
    const comments = this.#commentsAfter(index, events)
    const data = filter.commentIds?.map((id) => comments.get(id) ?? null) ?? [...comments.values()]
    const body = Buffer.from(JSON.stringify({ result: { status: 'success', message: 'ok', data } }))
    const reply = { httpStatus: 200, retryAfterMs: null, body }
    const answer = readResponse(
      reply,
      { operation: 'comments', filter, secrets: [] },
      call.knownDigest,
    )
    if (filter.commentIds !== undefined) return answer
    this.#bodies.set(index, { events, digest: answer.digest })
    this.#noteSights(index, answer.digest, call.knownDigest, events)
    return answer
  }

  /** Notes what a listing is the first to show, and what it shows again to who does not know the one before, or not yet. */
  #noteSights(index: number, digest: Buffer, known: Buffer | undefined, events: number): void {
    const last = this.#shown.get(index)
    const isKnown = last === undefined || known === undefined || known.equals(last.digest)
    const seenMs = this.now.getTime()
    const sights = isKnown ? [] : [...last.sights]
    for (const { looksMs } of sights) looksMs.push(seenMs)
    const { organization } = this.#annotation(index)
    const comments = new Map(last?.comments)
    for (const [id, { lastUpdated }] of this.#commentsAfter(index, events)) {
      const isNew = last !== undefined && (comments.get(id) ?? '') < lastUpdated
      if (isNew)
        sights.push({ organization, index, id, atMs: Date.parse(lastUpdated), looksMs: [seenMs] })
      if (isNew) this.sights.push(sights.at(-1) as Sight)
      comments.set(id, lastUpdated)
    }
    this.#shown.set(index, { digest, comments, sights })
  }

  #commentsAfter(index: number, count: number): Map<number, ServedComment> {
    const comments = new Map<number, ServedComment>()
    for (const [commentId, { atS, kind }] of this.#annotation(index)
      .events.slice(0, count)
      .entries()) {
      const last = [...comments.keys()].at(-1)
      if (kind === 'delete' && last !== undefined) comments.delete(last)
      if (kind === 'delete') continue
      const id = kind === 'edit' && last !== undefined ? last : commentId + 1
      const lastUpdated = new Date(this.#beginMs + Math.round(atS * 1000)).toISOString()
      comments.set(id, { commentId: id, commentText: `${kind} ${commentId}`, lastUpdated })
    }
    return comments
  }

  #annotation(index: number) {
    const annotation = this.#activity.annotations[index]
    if (annotation === undefined) throw new Error(`No annotation ${index}.`)
    return annotation
  }
}

/** The last listing of an annotation. */
interface Shown {
  readonly digest: Buffer
  /** lastUpdated by id. */
  readonly comments: ReadonlyMap<number, string>
  readonly sights: readonly Sight[]
}

interface ServedComment {
  readonly commentId: number
  readonly commentText: string
  readonly lastUpdated: string
}

/**
 * Continuous refresh by the program itself: its planner, its statements, its commits, on the world's clock. The budget is one
 * call a day for each annotation.
 */
export async function refreshed(
  activity: Activity,
  options: { measureFromS: number; promiseS: number; beginMs: number },
  check: (database: TestDatabase, service: SimulatedService) => Promise<void> = async () => {},
): Promise<Outcome> {
  const { measureFromS, promiseS, beginMs } = options
  const database = await createTestDatabase()
  try {
    const known = (index: number) => activity.annotations[index]?.knownS ?? 0
    const all = [...activity.annotations.keys()].sort((a, b) => known(a) - known(b))
    const atBegin = all.filter((index) => known(index) === 0)
    await addToCatalog(database, activity, atBegin)
    const budget = all.length / DAY
    await setDefinitions(database.pool, {
      freshnessPromiseMs: promiseS * 1000,
      refreshBudget: budget,
    })
    const service = new SimulatedService(activity, { beginMs, measureFromS })
    const draining = new AbortController()
    const context = contextOf(database, service.api(), draining.signal)
    let stepS = 0
    const limit: SharedRateLimit = {
      ...NO_RATE_LIMIT,
      acquire: () => service.takeTurn(stepS),
    }
    const clock = {
      moment: async () => ({ ...(await refresh.state.one(database.pool)), at: service.now }),
      now: () => service.now,
    }
    const refresher = new Refresher(context, limit, clock)
    const step = async () => {
      if ((await refresher.step()) > 0) service.nowS += 1
      await refresher.ended()
    }
    // A first pass outside of time: what the world is like at its begin is known.
    while (service.calls < atBegin.length) await step()
    stepS = 1 / budget
    const endS = activity.days * DAY
    const later = all.slice(atBegin.length)
    while (service.nowS < endS) {
      const added = later.filter((index) => known(index) <= service.nowS).length
      if (added > 0) await addToCatalog(database, activity, later.splice(0, added), service.now)
      await step()
    }
    await check(database, service)
    return service.outcome()
  } finally {
    await database.drop()
  }
}

function contextOf(
  { pool }: TestDatabase,
  collabApi: CollabApi,
  drained: AbortSignal,
): SyncContext {
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
    drained,
    rules: new RulesKeeper(pool),
    maxIds: 30,
    shrinkLimit: 0.5,
    heldAcceptAfter: null,
    operations: ['comments'],
  }
}

/** @param at the time of the world, which the database does not know */
async function addToCatalog(
  { pool }: TestDatabase,
  { annotations }: Activity,
  indices: readonly number[],
  at?: Date,
): Promise<void> {
  const lines = indices.map((index) => {
    const { document = 0, organization = 0 } = annotations[index] ?? {}
    const documentId = `document ${document}`
    return {
      organizationId: `organization ${organization}`,
      documentId,
      annotationId: String(index),
    }
  })
  await importCatalog(pool, listSource('world', lines), { prune: false })
  if (at === undefined) return
  const ids = indices.map(String)
  await pool.query(
    `update collab_store.recent_threads r set active_at = $2 from collab_store.annotations a
     where a.annotation_key = r.annotation_key and a.annotation_id = any($1)`,
    [ids, at],
  )
}
