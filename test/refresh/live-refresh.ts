import { setTimeout as sleep } from 'node:timers/promises'
import { setDefinitions } from '../../src/core/database/definitions.ts'
import { places } from '../../src/demo/catalog.ts'
import { addComment } from '../../src/demo/changes.ts'
import type { Place } from '../../src/demo/layout.ts'
import { buildWorker } from '../helpers/worker-process.ts'
import type { WorkerProcess } from '../helpers/worker-process.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { openRig } from '../faults/rig.ts'
import { until } from '../helpers/until.ts'
import { Dice } from './activity.ts'

export interface LiveOptions {
  readonly annotations: number
  readonly seconds: number
  readonly budget: number
  readonly promiseS: number
  readonly workers: number
  readonly activeThreads: number
  /** Between two kills of a worker; null for none. */
  readonly killEveryS: number | null
  readonly redis?: { readonly url: string; readonly prefix: string }
}

export interface LiveOutcome {
  /** Milliseconds from each change to the call that saw it. */
  readonly delays: readonly number[]
  /** Mean delay of one call after the other in the order of the catalog, at the calls that were made. */
  readonly roundRobinMs: number
  readonly callsPerSecond: number
  /** Most calls that came within any second. */
  readonly mostInASecond: number
  /** Longest time between two calls for one annotation, in milliseconds. */
  readonly worstAgeMs: number
  /** Annotations whose checked_at is later than every call for them. */
  readonly checkedTooLate: number
  /** Comments of the world that are not in the tables at the end, of changes older than the promise. */
  readonly lacking: number
  readonly kills: number
}

/** Workers that are processes of their own refresh a small catalog while some threads change. */
export async function liveRefresh(options: LiveOptions): Promise<LiveOutcome> {
  const { annotations, seconds, budget, promiseS, workers, activeThreads, killEveryS } = options
  const build = await buildWorker()
  const database = await createTestDatabase()
  const perDocument = 10
  const rig = await openRig(
    {
      databaseUrl: database.url,
      ...(options.redis && { redisUrl: options.redis.url, queuePrefix: options.redis.prefix }),
    },
    {
      world: {
        seed: 3,
        organizations: 2,
        documentsPerOrganization: annotations / perDocument / 2,
        annotationsPerDocument: perDocument,
        commentsPerAnnotation: 1,
        usersPerOrganization: 5,
        groupsPerOrganization: 0,
      },
      standIn: { logCalls: 2_000_000 },
    },
  )
  try {
    const definitions = { freshnessPromiseMs: promiseS * 1000, refreshBudget: budget }
    const environment = {
      ...rig.environment,
      LOG_LEVEL: 'warn',
      FRESHNESS_PROMISE: `${promiseS}s`,
      REFRESH_BUDGET: String(budget),
      SYNC_OPERATIONS: 'comments',
      SYNC_CRON: '0 0 29 2 *',
      TEST_KEEPS_SCHEDULE: '1',
      TEST_DEAD_AFTER_S: '6',
    }
    // Everything is in the tables before the clock runs.
    await setDefinitions(rig.database.pool, { ...definitions, refreshBudget: 2000 })
    const quick = await build.start({ ...environment, REFRESH_BUDGET: '2000' })
    await until(
      'everything was looked at',
      () => rig.standIn.calls.total >= annotations || null,
      120_000,
    )
    await sleep(1500)
    await quick.stop()
    await setDefinitions(rig.database.pool, definitions)

    const running: WorkerProcess[] = []
    for (let each = 0; each < workers; each += 1) running.push(await build.start(environment))
    await sleep(2000)
    const beginMs = Date.now()
    const changed: { key: string; atMs: number }[] = []
    const dice = new Dice(1)
    const all = [...places(rig.world)].filter(({ annotationId }) => annotationId !== undefined)
    const active = Array.from({ length: activeThreads }, () => all[dice.below(all.length)])
    let kills = 0
    let killedMs = beginMs
    while (Date.now() < beginMs + seconds * 1000) {
      await sleep(Math.min(1000, dice.exponential(20_000 / activeThreads)))
      const place = active[dice.below(active.length)] as Place
      addComment(rig.world, place, { text: `comment ${changed.length}` })
      changed.push({ key: keyOf(place), atMs: Date.now() })
      if (killEveryS === null || Date.now() < killedMs + killEveryS * 1000) continue
      killedMs = Date.now()
      const next = kills % running.length
      await running[next]?.kill()
      running[next] = await build.start(environment)
      kills += 1
    }
    const endMs = Date.now()
    await sleep(promiseS * 2000)
    for (const worker of running) await worker.stop()
    return { ...(await told(rig, { beginMs, endMs, changed, annotations })), kills }
  } finally {
    build.killAll()
    await rig.close()
    await database.drop()
  }
}

function keyOf({ organizationId, documentId, annotationId }: Place): string {
  return JSON.stringify([organizationId, documentId, annotationId])
}

async function told(
  rig: Awaited<ReturnType<typeof openRig>>,
  of: {
    beginMs: number
    endMs: number
    changed: readonly { key: string; atMs: number }[]
    annotations: number
  },
): Promise<Omit<LiveOutcome, 'kills'>> {
  const { beginMs, endMs, changed, annotations } = of
  const calls = rig.standIn.calls.log.map(({ atMs, data }) => {
    const { organizationId, documentId, annotationId }: Record<string, unknown> = { ...data }
    return { atMs, key: JSON.stringify([organizationId, documentId, annotationId]) }
  })
  const byKey = new Map<string, { atMs: number }[]>()
  for (const call of calls) byKey.set(call.key, [...(byKey.get(call.key) ?? []), call])
  const delays = changed.map(({ key, atMs }) => {
    const seen = byKey.get(key)?.find((call) => call.atMs >= atMs)
    return (seen?.atMs ?? Date.now()) - atMs
  })
  const within = calls.filter(({ atMs }) => atMs >= beginMs && atMs < endMs).map(({ atMs }) => atMs)
  let mostInASecond = 0
  for (let first = 0, last = 0; last < within.length; last += 1) {
    while ((within[last] ?? 0) - (within[first] ?? 0) >= 1000) first += 1
    mostInASecond = Math.max(mostInASecond, last - first + 1)
  }
  let worstAgeMs = 0
  for (const its of byKey.values()) {
    const times = its.map(({ atMs }) => atMs).filter((atMs) => atMs <= endMs)
    for (const [index, atMs] of [...times, endMs].entries())
      if (index > 0 && (times[index - 1] ?? 0) >= beginMs)
        worstAgeMs = Math.max(worstAgeMs, atMs - (times[index - 1] ?? 0))
  }
  const { rows } = await rig.database.pool.query<{
    organization_id: string
    document_id: string
    annotation_id: string
    checked_at: Date | null
    comment_count: number
  }>(
    'select organization_id, document_id, annotation_id, checked_at, comment_count from collab.annotations',
  )
  const checkedTooLate = rows.filter(
    ({ organization_id, document_id, annotation_id, checked_at }) => {
      const last = byKey.get(JSON.stringify([organization_id, document_id, annotation_id]))?.at(-1)
      return checked_at !== null && checked_at.getTime() > (last?.atMs ?? 0)
    },
  ).length
  const callsPerSecond = within.length / ((endMs - beginMs) / 1000)
  const inWorld = [...places(rig.world)].reduce(
    (sum, place) => sum + (rig.world.comments(place)?.length ?? 0),
    0,
  )
  const stored = rows.reduce((sum, { comment_count }) => sum + comment_count, 0)
  return {
    delays,
    roundRobinMs: (annotations / callsPerSecond / 2) * 1000,
    callsPerSecond,
    mostInASecond,
    worstAgeMs,
    checkedTooLate,
    lacking: inWorld - stored,
  }
}
