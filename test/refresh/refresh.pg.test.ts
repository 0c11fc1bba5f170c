import { describe, expect, test, vi } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { removeFromCatalog } from '../../src/features/catalog/change.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { setDefinitions } from '../../src/core/database/definitions.ts'
import { lock } from '../../src/core/database/locks.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { transaction } from '../../src/core/database/pool.ts'
import type { Client } from '../../src/core/database/pool.ts'
import * as refresh from '../../src/core/database/statements/refresh.ts'
import * as scopes from '../../src/core/database/statements/scopes.ts'
import { places } from '../../src/demo/catalog.ts'
import { addComment, deleteComment, edit } from '../../src/demo/changes.ts'
import { successBody } from '../../src/demo/operations.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { App } from '../../src/worker/app.ts'
import { NO_RATE_LIMIT } from '../../src/core/service/shared-rate-limit.ts'
import type { SharedRateLimit } from '../../src/core/service/shared-rate-limit.ts'
import { databaseClock } from '../../src/features/refresh/polling.ts'
import { Refresher } from '../../src/features/refresh/refresher.ts'
import { finishRun } from '../../src/core/run/finish.ts'
import { scopesDone, scopesInAll } from '../../src/schemas/run.ts'
import { onApp } from '../client/on-app.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { until } from '../helpers/until.ts'
import { openSelfSignedServer } from '../service/self-signed.ts'
import type { FaultRule } from '../service/faults.ts'

const BUDGET = 1000
const PROMISE = { freshnessPromiseMs: 26 * 3_600_000 }

let live: Live | undefined

/** A catalog that is in the tables, with refresh switched on; its looks are made step by step. */
async function opened(settings: Record<string, string> = {}) {
  live = await openLoaded('none', { settings: { SYNC_RETRIES: '0', ...settings } })
  await live.run()
  const { pool } = live.database
  await setDefinitions(pool, { ...PROMISE, refreshBudget: BUDGET })
  const app = await live.openApp({ REFRESH_BUDGET: String(BUDGET) })
  return { ...live, pool, app, ...(await refresherOf(app)) }
}

/** @param workerId another worker than that of the app */
async function refresherOf(app: App, workerId = app.sync.workerId) {
  const counted = { calls: 0, nowMs: 60_000 }
  const budget: SharedRateLimit = {
    ...NO_RATE_LIMIT,
    acquire: async () => void (counted.calls += 1),
  }
  await beat(app, workerId)
  const context = { ...app.sync, workerId }
  const real = databaseClock(app.store.database)
  const later = (at: Date) => new Date(at.getTime() + counted.nowMs)
  const clock = {
    moment: async () => {
      const moment = await real.moment()
      return { ...moment, at: later(moment.at) }
    },
    now: () => later(real.now()),
  }
  const refresher = new Refresher(context, budget, clock)
  const steps = async (count: number) => {
    for (let each = 0; each < count; each += 1) await refresher.step()
    await refresher.ended()
  }
  return { refresher, counted, steps }
}

async function beat(app: App, workerId: string): Promise<void> {
  await app.store.database.query(
    `insert into sync.workers (worker_id, started_at, heartbeat_at, calls_in_flight, calls_limit) values ($1, now(), now(), 0, 1)
     on conflict (worker_id) do update set heartbeat_at = now()`,
    [workerId],
  )
}

function somePlace({ world }: Pick<Live, 'world'>, skip = 0): Place & { annotationId: string } {
  const place = [...places(world)].filter((each) => (world.comments(each)?.length ?? 0) > 1)[skip]
  if (place === undefined) throw new Error('The world is empty.')
  return place
}

async function keyOf(it: Pick<Live, 'rows'>, place: Place): Promise<number> {
  const { organizationId, documentId, annotationId } = place
  const [row] = await it.rows(
    `select annotation_key as key from collab_store.annotations join collab_store.documents using (document_key)
     join collab_store.organizations using (organization_key)
     where organization_id = $1 and document_id = $2 and annotation_id = $3`,
    organizationId,
    documentId,
    annotationId,
  )
  return row?.key ?? 0
}

const COMMENTS =
  'select comment_count as count from collab_store.annotations where annotation_key = $1'
const FAILING =
  'select annotation_key as key from collab_store.annotations where failing_since is not null'
const RECENT = 'select r.active_at, r.annotation_key from collab_store.recent_threads r order by 1'

test('a change is seen, makes its thread recent, and the next look at it comes soon; what did not change writes nothing', async () => {
  const it = await opened()
  const place = somePlace(it)
  addComment(it.world, place, { text: 'new' })
  await it.steps(6)
  const comments = it.world.comments(place)?.length
  expect(await it.rows(COMMENTS, await keyOf(it, place))).toEqual([{ count: comments }])
  expect(await it.rows(RECENT)).toHaveLength(1)

  const stamps = 'select annotation_key, xmin, ctid from collab_store.annotations order by 1'
  const before = await it.rows(stamps)
  it.counted.nowMs += 60_000
  await it.steps(6)
  const after = await it.rows(stamps)
  const written = after.filter(
    (each, index) => JSON.stringify(each) !== JSON.stringify(before[index]),
  )
  // The sweep gives the thread back to its batch, whose time of check is later now.
  expect(written.length).toBeLessThanOrEqual(1)
  const [hot] = await it.rows('select sum(polls) as polls from sync.refresh_hours where class < 7')
  expect(Number(hot?.polls)).toBeGreaterThan(0)
})

test('while an operator pauses the calls, nothing is polled', async () => {
  const it = await opened()
  const collabSync = onApp(it.app)
  await collabSync.pause({ until: new Date(Date.now() + 3_600_000).toISOString() })
  await it.app.followLimits()
  await it.steps(3)
  expect(it.counted.calls).toBe(0)
  await collabSync.resume()
  await it.app.followLimits()
  await it.steps(3)
  expect(it.counted.calls).toBeGreaterThan(0)
})

test('a whole pass is a check of each of its threads, and of none that changed or failed since', async () => {
  const it = await opened()
  const [one, other] = [somePlace(it), somePlace(it, 1)]
  for (const place of [one, other]) addComment(it.world, place, { text: 'new' })
  await it.steps(6)
  it.counted.nowMs += 20_000
  const passBegins = Date.now() + it.counted.nowMs
  // A transaction of another test that ends just while the pass begins counts as one of this database: not that pass, then.
  await until('both threads were in a whole pass', async () => {
    it.counted.nowMs += 6_000
    await it.steps(8)
    return (await it.rows('select 1 from collab_store.pass_checks')).length >= 2
  })
  const checks = await it.rows(`select v.checked_at, w.pass_started_at
     from collab_store.recent_threads r
     join collab_store.annotations a using (annotation_key)
     join collab_store.documents d using (document_key)
     join collab_store.organizations o using (organization_key)
     left join collab_store.pass_checks w using (annotation_key)
     join collab.annotations v using (organization_id, document_id, annotation_id)`)
  expect(checks.length).toBeGreaterThanOrEqual(2)
  for (const { checked_at, pass_started_at } of checks) {
    expect(pass_started_at?.getTime()).toBeGreaterThanOrEqual(passBegins - 15_000)
    expect(checked_at.getTime()).toBeGreaterThanOrEqual(pass_started_at?.getTime() ?? Infinity)
  }
  const totals = await scopes.freshness.one(it.pool)
  expect(
    await it.rows(
      'select count(*)::int as scopes, max(checked_at) as newest from reporting.freshness',
    ),
  ).toEqual([{ scopes: totals.scopes, newest: totals.newestCheck }])

  await it.pool.query(
    `update collab_store.recent_threads set active_at = active_at + interval '1 millisecond'`,
  )
  await it.pool.query('update collab_store.recent_threads set written_in = pg_current_xact_id()')
  expect(await it.rows('select * from collab_store.pass_checks')).toEqual([])
})

test('two workers hand out no thread twice in a pass, and the page of a dead one is asked again by the other', async () => {
  const it = await opened()
  const all = [...places(it.world)]
  for (const place of all.slice(0, 20)) addComment(it.world, place, { text: 'new' })
  await it.steps(8)
  expect((await it.rows(RECENT)).length).toBeGreaterThanOrEqual(20)
  const second = await refresherOf(it.app, 'second')
  it.counted.nowMs += 30_000
  second.counted.nowMs = it.counted.nowMs
  const from = it.standIn.calls.log.length
  await Promise.all([it.steps(1), second.steps(1)])
  const keys = it.standIn.calls.log.slice(from).map(({ data }) => JSON.stringify(data))
  const hot = await it.rows(
    'select class, sum(polls)::int as polls from sync.refresh_hours where class = 0 group by class',
  )
  expect(hot).toHaveLength(1)
  expect(new Set(keys.slice(0, 20)).size).toBe(Math.min(20, keys.length))

  // Pages that a worker was processing when it died: one of threads, then one of batches.
  await it.pool.query(
    `insert into sync.refresh_pages (class, pass, from_active_at, from_key, to_active_at, to_key, worker_id, claimed_at)
    select 0, 0, max(active_at) + interval '1 second', 0, min(active_at), 0, 'dead', now() from collab_store.recent_threads`,
  )
  const calls = it.standIn.calls.byOperation.comments
  await it.steps(1)
  expect(it.standIn.calls.byOperation.comments - calls).toBeGreaterThanOrEqual(20)
  expect(await it.rows('select * from sync.refresh_pages where class = 0')).toEqual([])
  await it.pool
    .query(`insert into sync.refresh_pages (class, pass, batch_keys, worker_id, claimed_at)
    select 7, 0, array_agg(batch_key), 'dead', now() from collab_store.batches where operation = 'comments' and scopes > 0`)
  it.counted.nowMs += 10_000
  const beforeIt = it.standIn.calls.byOperation.comments
  await it.steps(4)
  expect(it.standIn.calls.byOperation.comments - beforeIt).toBeGreaterThanOrEqual(all.length)
  expect(await it.rows(`select * from sync.refresh_pages where worker_id = 'dead'`)).toEqual([])
})

test('one worker plans at a time', async () => {
  const it = await opened()
  let step: Promise<void> | undefined
  await transaction(it.pool, async (client) => {
    await lock(client, 'refresh')
    step = it.steps(1)
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until('it waits', async () => (await it.rows(waiting)).length > 0)
    expect(it.counted.calls).toBe(0)
  })
  await step
  expect(it.counted.calls).toBeGreaterThan(0)
})

test('a batch that others write to while it is swept is not asked for again as a whole', async () => {
  const it = await opened()
  const [one, other] = [somePlace(it), somePlace(it, 1)]
  addComment(it.world, one, { text: 'found by the sweep' })
  const calls = it.standIn.calls.byOperation.comments
  const gone = somePlace(it, 2)
  it.standIn.setFaults([await supersededBy(it, other), { kind: 'not-found', match: idsOf(gone) }])
  await it.steps(4)
  const [row] = await it.rows(
    `select comment_count, b.checked_at > now() as checked
    from collab_store.annotations join collab_store.batches b using (batch_key) where annotation_key = $1`,
    await keyOf(it, one),
  )
  expect(row).toEqual({ comment_count: it.world.comments(one)?.length, checked: true })
  const annotations = [...places(it.world)].length
  expect(it.standIn.calls.byOperation.comments - calls).toBeLessThan(annotations + 20)
  // A failure that was thrown away with the commit is written with the next one.
  expect(await it.rows(FAILING)).toEqual([{ key: await keyOf(it, gone) }])
})

/** Another claim writes to the batch of the place while it is fetched; that call gets no response. */
async function supersededBy(it: Pick<Live, 'rows'>, place: Place): Promise<FaultRule> {
  const key = await keyOf(it, place)
  return {
    kind: 'custom',
    times: 1,
    match: idsOf(place),
    respond: (_, response) => {
      void it
        .rows(
          `update collab_store.batches b set version = nextval('sync.claim_no')
           from collab_store.annotations a where a.batch_key = b.batch_key and a.annotation_key = $1`,
          key,
        )
        .then(() => response.destroy())
    },
  }
}

function idsOf({ organizationId, documentId, annotationId }: Place) {
  return { organizationId, documentId, annotationId: annotationId ?? '' }
}

test('a deletion is seen by a question by id, and that call counts', async () => {
  const it = await opened()
  const place = somePlace(it)
  const [gone] = it.world.comments(place) ?? []
  deleteComment(it.world, place, gone?.commentId ?? 0)
  const calls = it.standIn.calls.total
  await it.steps(6)
  const deleted =
    'select comment_id::int as id from collab_store.comments where annotation_key = $1 and deleted_at is not null'
  expect(await it.rows(deleted, await keyOf(it, place))).toContainEqual({ id: gone?.commentId })
  expect(it.counted.calls).toBe(it.standIn.calls.total - calls)
})

test('a change is dated by the response that shows it: the polls of a page may be half an hour apart', async () => {
  const it = await opened()
  const place = somePlace(it)
  const added = addComment(it.world, place, { text: 'new' })
  const [gone, edited] = it.world.comments(place) ?? []
  deleteComment(it.world, place, gone?.commentId ?? 0)
  edit(it.world, place, edited?.commentId ?? 0, { text: 'other words' })
  const WAIT_MS = 1_800_000
  const answer: FaultRule = {
    kind: 'custom',
    times: 1,
    match: ({ data }) => 'annotationId' in data && data.annotationId === place.annotationId,
    respond: (_, response) => {
      it.counted.nowMs += WAIT_MS
      const items = (it.world.comments(place) ?? []).map((each) => JSON.stringify(each))
      response.end(successBody('comments', items))
    },
  }
  it.standIn.setFaults([answer])
  const beganMs = Date.now() + it.counted.nowMs
  await it.steps(6)
  const found = await it.rows(
    `select comment_id::int as id, least(changed_at, deleted_at, case change when 'added' then first_seen_at end) as at
    from collab_store.comments where annotation_key = $1 and comment_id = any($2)`,
    await keyOf(it, place),
    [added, edited?.commentId, gone?.commentId],
  )
  expect(found).toHaveLength(3)
  for (const { id, at } of found)
    expect(at.getTime() - beganMs, `comment ${id}`).toBeGreaterThanOrEqual(WAIT_MS)
})

test('what a comment says of its time never makes a thread more recent than now', async () => {
  const it = await opened()
  const [future, never] = [somePlace(it), somePlace(it, 1)]
  const put = (place: Place, change: object) =>
    it.world.putThread(place, {
      live: (it.world.comments(place) ?? []).map((each) => ({ ...each, ...change })),
      deleted: [],
    })
  put(future, { commentText: 'later', lastUpdated: '2199-01-01T00:00:00.000Z' })
  // Edits without a new time.
  put(never, { commentText: 'same time' })
  await it.steps(6)
  const recent = await it.rows(RECENT)
  expect(recent).toHaveLength(2)
  for (const { active_at } of recent) {
    expect(active_at.getTime()).toBeLessThanOrEqual(Date.now() + it.counted.nowMs)
    expect(active_at.getTime()).toBeGreaterThan(Date.now() - 60_000)
  }
})

test('nothing is asked of what left the catalog', async () => {
  const it = await opened()
  const place = somePlace(it)
  addComment(it.world, place, { text: 'new' })
  await it.steps(6)
  await removeFromCatalog(it.pool, [idsOf(place)], { source: 'a test', requestedBy: 'ann' })
  const from = it.standIn.calls.log.length
  it.counted.nowMs += 60_000
  await it.steps(10)
  const fetched = it.standIn.calls.log.slice(from).map(({ data }) => data)
  expect(fetched.length).toBeGreaterThan(10)
  expect(fetched).not.toContainEqual(idsOf(place))
})

test('a pass goes on where the clock was set back', async () => {
  const it = await opened()
  addComment(it.world, somePlace(it), { text: 'new' })
  await it.steps(6)
  it.counted.nowMs = 3_600_000
  await it.steps(6)
  it.counted.nowMs = 10_000
  const calls = it.standIn.calls.total
  await it.steps(6)
  expect(it.standIn.calls.total).toBeGreaterThan(calls)
})

test('classes follow one another, each four times as long as the one before', async () => {
  const it = await opened()
  const at = new Date()
  // The first and the last millisecond of each class; the first key is of what class 7 alone polls.
  const quietMs = Array.from({ length: 7 }, (_, of) => [
    of === 0 ? 0 : 240_000 * 4 ** (of - 1),
    240_000 * 4 ** of - 1,
  ])
  await it.pool.query(
    `insert into collab_store.recent_threads (annotation_key, batch_key, active_at)
     select key, 1, $1::timestamptz - ms * interval '1 millisecond' from unnest($2::float8[]) with ordinality t (ms, key)`,
    [at, [240_000 * 4 ** 6, ...quietMs.flat()]],
  )
  const pass = { at, snapshot: '1', operations: [], leastS: 5 }
  await refresh.beginPasses.run(it.pool, pass)
  const counted = 'select threads from sync.refresh_passes where class < 7 order by class'
  expect((await it.rows(counted)).map(({ threads }) => threads)).toEqual(quietMs.map(() => 2))
})

test('counts of hours are deleted after 90 days, when a pass begins', async () => {
  const it = await opened()
  const hours = 'select extract(day from now() - hour)::int as age from sync.refresh_hours'
  await it.pool.query(
    `insert into sync.refresh_hours (hour, class) select now() - age * interval '1 day', 7 from unnest('{1, 89, 91}'::int[]) age`,
  )
  await it.rows(
    `insert into collab_store.recent_threads (annotation_key, batch_key, active_at) values (1, 1, now() - interval '1 hour')`,
  )
  await refresh.purge.run(it.pool, { at: new Date(), recentS: 1 })
  // No pass of class 6 begins.
  expect(await it.rows(RECENT)).toHaveLength(1)
  expect(await it.rows(`${hours} where class = 7 order by age`)).toEqual([{ age: 1 }, { age: 89 }])
})

test('a pass is whole when the last of its pages has ended, and not before', async () => {
  const it = await opened()
  const at = new Date()
  await it.rows('update sync.refresh_passes set pass = 1, is_planned = true where class = 0')
  const pages = await it.rows(
    `insert into sync.refresh_pages (class, pass, pass_started_at, pass_snapshot, worker_id, claimed_at)
     select 0, 1, $1, '1', 'any', $1 from generate_series(1, 2) returning page_id`,
    at,
  )
  const whole: unknown[] = []
  for (const page of pages) {
    const pageId = Number(page['page_id'])
    await refresh.endPage.run(it.pool, { pageId, workerId: 'any', at, found: 0, gapS: 0 })
    const [row] = await it.rows('select last_full_pass from sync.refresh_passes where class = 0')
    whole.push(row?.last_full_pass)
  }
  expect(whole).toEqual([null, at])
})

test('what was learned counts half as much a day later, and whole where the clock was set back', async () => {
  const it = await opened()
  const at = new Date()
  const learned = async (learnedAt: number) => {
    await it.rows(
      'update sync.refresh_passes set found = 8, gap_s = 100, learned_at = $1',
      new Date(learnedAt),
    )
    const [page] = await it.rows(
      `insert into sync.refresh_pages (class, pass, worker_id, claimed_at) values (7, 0, 'any', $1) returning page_id`,
      at,
    )
    const pageId = Number(page?.page_id)
    await refresh.endPage.run(it.pool, { pageId, workerId: 'any', at, found: 1, gapS: 10 })
    return it.rows('select found, gap_s from sync.refresh_passes where class = 7')
  }
  expect(await learned(at.getTime() - 86_400_000)).toEqual([{ found: 5, gap_s: 60 }])
  expect(await learned(at.getTime() + 5_000)).toEqual([{ found: 9, gap_s: 110 }])
})

describe('what fails', () => {
  test('a thread that fails keeps its last good check, has one row a day until it is resolved, and is no burden', async () => {
    const it = await opened()
    const place = somePlace(it)
    it.standIn.setFaults([{ kind: 'not-found', match: idsOf(place) }])
    const checked =
      'select own_checked_at, failing_since is not null as failing from collab_store.annotations where annotation_key = $1'
    const batch =
      'select checked_at from collab_store.batches b join collab_store.annotations a using (batch_key) where annotation_key = $1'
    const key = await keyOf(it, place)
    const [before] = await it.rows(batch, key)
    const minutes = async () => {
      for (let each = 0; each < 4; each += 1) {
        it.counted.nowMs += 60_000
        await it.steps(6)
      }
    }
    await minutes()
    expect(await it.rows(checked, key)).toEqual([
      { own_checked_at: before?.checked_at, failing: true },
    ])
    const failures = await it.rows(
      `select f.* from sync.failures f join sync.runs r using (run_id) where r.trigger = 'refresh'`,
    )
    expect(failures).toHaveLength(1)

    it.standIn.setFaults([])
    await minutes()
    const open = 'select run_id = resolved_by as is_by_refresh from sync.failures'
    expect(await it.rows(open)).toEqual([{ is_by_refresh: true }])

    it.standIn.setFaults([{ kind: 'not-found', match: idsOf(place) }])
    await minutes()
    expect(await it.rows(FAILING)).toEqual([{ key }])
    expect(await it.rows('select from sync.failures where resolved_at is null')).toHaveLength(1)
  })

  test('refused credentials pause it, and say so; it goes on by itself', async () => {
    const it = await opened()
    it.standIn.setFaults([{ kind: 'unauthenticated' }])
    await it.steps(2)
    const state = 'select reason, paused_until > now() as paused from sync.refresh_state'
    expect(await it.rows(state)).toEqual([
      { reason: expect.stringContaining('refuses key or token') as string, paused: true },
    ])
    const calls = it.standIn.calls.total
    await it.steps(3)
    expect(it.standIn.calls.total).toBe(calls)
    expect(await it.rows(FAILING)).toEqual([])

    it.standIn.setFaults([])
    it.counted.nowMs += 600_000
    await it.steps(4)
    await until('it goes on', async () => {
      const [{ reason, paused } = {}] = await it.rows(state)
      return reason === null && paused === null
    })
    expect(it.standIn.calls.total).toBeGreaterThan(calls)
  })

  test('a service that cannot be reached pauses it, unless another worker reaches it', async () => {
    const it = await opened()
    const untrusted = await openSelfSignedServer()
    const settings = { REFRESH_BUDGET: String(BUDGET), COLLAB_API_URL: untrusted.url }
    const state = 'select reason from sync.refresh_state'
    const beside = await refresherOf(await it.openApp(settings))
    await beside.steps(2)
    expect(await it.rows(state)).toEqual([{ reason: null }])

    await it.rows('delete from sync.workers where worker_id = $1', it.app.sync.workerId)
    await it.rows(`update sync.workers set problem = 'none that is of interest'`)
    const alone = await refresherOf(await it.openApp(settings))
    await alone.steps(2)
    const reason = expect.stringContaining('its certificate is not trusted') as string
    expect(await it.rows(state)).toEqual([{ reason }])
    expect(await it.rows(FAILING)).toEqual([])
  })

  test('a service that fails everywhere pauses it, after few failures', async () => {
    const it = await opened()
    it.standIn.setFaults([{ kind: 'server-error-html' }])
    await it.steps(10)
    const [state] = await it.rows('select reason from sync.refresh_state')
    expect(state?.reason).toContain('seems to be unavailable')
  })

  test('failures of one organization alone do not pause it', async () => {
    const { refresher, rows } = await opened()
    const { polling } = refresher
    for (let poll = 0; poll < 100; poll++) polling.polled('failed', 1)
    expect(polling.isPaused).toBe(false)
    polling.polled('failed', 2)
    const paused = () => rows('select from sync.refresh_state where reason is not null')
    await until('it is paused', async () => (await paused()).length === 1)
  })
})

test('after an error of PostgreSQL, the page is not polled again at once', async () => {
  const it = await opened()
  const rename = (name: string, to: string) =>
    it.pool.query(`alter function collab_store.${name}(timestamptz, timestamptz) rename to ${to}`)
  await rename('last_good_check', 'lost')
  // The pause is a second of this clock, however slow the machine is.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(60_000)
  await it.steps(1)
  const restMs = await it.refresher.step().finally(() => clock.mockRestore())
  expect(restMs).toBeGreaterThan(0)
  await rename('lost', 'last_good_check')
  const pages = 'select worker_id from sync.refresh_pages'
  expect(await it.rows(pages)).toEqual([{ worker_id: null }])
})

test('the nightly run leaves out the operations that refresh polls, if it polls any', async () => {
  const it = await opened()
  const scopeOfNight = async (app: App) => {
    const started = await jobs['start-nightly-run'](app, { data: {}, requestKey: null } as never)
    const { runId } = started as { runId: string }
    const [run] = await it.rows('select scope from sync.runs where run_id = $1', runId)
    await it.rows('delete from sync.runs where run_id = $1', runId)
    return run?.scope
  }
  expect(await scopeOfNight(it.app)).toEqual({ operations: ['users'] })
  await setDefinitions(it.pool, PROMISE)
  expect(await scopeOfNight(await it.openApp({}))).toEqual({})
})

test('a day of refresh is a run that adds up and is settled when the next day has begun', async () => {
  const it = await opened()
  addComment(it.world, somePlace(it), { text: 'new' })
  await it.steps(8)
  it.counted.nowMs += 24 * 3_600_000
  await it.steps(2)
  const runs = await it.rows(
    `select run_id from sync.runs where trigger = 'refresh' order by requested_at`,
  )
  expect(runs).toHaveLength(2)
  const open = await onApp(it.app).getRun(runs[0]?.run_id ?? '')
  if (open === null) throw new Error('There is no such run.')
  expect(scopesDone(open)).toBeGreaterThan(50)
  expect(scopesInAll(open)).toBe(scopesDone(open))
  const workerId = it.app.sync.workerId
  await it.pool.query(`update sync.runs set request_key = 'refresh 2000-01-01' where run_id = $1`, [
    runs[0]?.run_id,
  ])
  const itemId = it.refresher.polling.item?.itemId ?? null
  await refresh.closeItems.run(it.pool, { workerId, itemId, deadAfterS: 30 })
  await finishRun(it.app.sync, runs[0]?.run_id ?? '')
  const [settled] = await it.rows('select * from sync.runs where run_id = $1', runs[0]?.run_id)
  expect(settled).toMatchObject({ status: 'succeeded', comments_written: 1, scopes_failed: 0 })
  expect(Number(settled?.['scopes_succeeded'])).toBeGreaterThan(50)
  expect(settled?.['scopes_planned']).toBe(settled?.['scopes_succeeded'])
})

test('a hint is polled next; one whose worker gave up, by any worker; none with the calls of the promise', async () => {
  const it = await opened()
  const [place, other] = [somePlace(it, 3), somePlace(it)]
  addComment(it.world, place, { text: 'new' })
  const key = await keyOf(it, place)
  await it.rows('insert into sync.hints (annotation_key) values ($1)', key)
  await it.steps(1)
  const calls = it.standIn.calls.total
  await it.refresher.pollHints()
  expect(it.standIn.calls.total - calls).toBe(1)
  expect(await it.rows('select * from sync.hints')).toEqual([])
  expect(await it.rows(COMMENTS, key)).toEqual([{ count: it.world.comments(place)?.length }])

  await it.rows(
    `insert into sync.hints (annotation_key, claimed_at, worker_id) values ($1, now() - interval '1 minute', $2)`,
    await keyOf(it, other),
    it.app.sync.workerId,
  )
  const second = await refresherOf(it.app, 'second')
  await second.steps(1)
  await second.refresher.pollHints()
  expect(await it.rows('select * from sync.hints')).toEqual([])

  await it.rows('insert into sync.hints (annotation_key) values ($1)', key)
  await it.rows('update collab_store.definitions set refresh_budget = 0.0001')
  const before = it.standIn.calls.total
  await it.refresher.pollHints()
  expect(it.standIn.calls.total).toBe(before)
})

test('a hint whose poll got no response stays for another worker', async () => {
  const it = await opened()
  await it.rows(
    'insert into sync.hints (annotation_key) values ($1)',
    await keyOf(it, somePlace(it)),
  )
  await it.steps(1)
  it.standIn.setFaults([{ kind: 'unauthenticated' }])
  await it.refresher.pollHints()
  expect(await it.rows('select from sync.hints')).toHaveLength(1)
})

test('two workers take no hint twice, and neither waits for the other', async () => {
  const it = await opened()
  await it.rows('insert into sync.hints (annotation_key) values (1)')
  const take = (client: Client, workerId: string) =>
    refresh.takeHints.all(client, { workerId, limit: 10, deadAfterS: 30 })
  await transaction(it.pool, async (client) => {
    expect(await take(client, 'first')).toHaveLength(1)
    await transaction(it.pool, async (other) => {
      await other.query(`set local lock_timeout = '1s'`)
      expect(await take(other, 'second')).toEqual([])
    })
  })
})

test('a thread to whose batch another claim writes while it is fetched is fetched again, within the budget', async () => {
  const it = await opened()
  const place = somePlace(it, 3)
  const key = await keyOf(it, place)
  await it.steps(1)
  addComment(it.world, place, { text: 'new' })
  await it.pool.query('insert into sync.hints (annotation_key) values ($1)', [key])
  it.standIn.setFaults([await supersededBy(it, place)])
  const [calls, allowed] = [it.standIn.calls.total, it.counted.calls]
  await it.refresher.pollHints()
  expect(it.standIn.calls.total - calls).toBe(2)
  expect(it.counted.calls - allowed).toBe(2)
  const rows = await it.rows(
    `select comment_count, failing_since is not null as failing, (select count(*)::int from sync.hints) as hints
     from collab_store.annotations where annotation_key = $1`,
    key,
  )
  const comments = it.world.comments(place)?.length
  expect(rows).toEqual([{ comment_count: comments, failing: false, hints: 0 }])
})

test('new annotations of a small import are looked at next, those of a large one wait', async () => {
  const it = await opened()
  await importLines(it, 100, 'small')
  expect(await it.rows(RECENT)).toHaveLength(100)
  await importLines(it, 101, 'large')
  expect(await it.rows(RECENT)).toHaveLength(100)
})

async function importLines({ database }: Live, count: number, documentId: string) {
  const lines = Array.from({ length: count }, (_, index) => ({
    organizationId: 'new',
    documentId,
    annotationId: `${documentId} ${index + 1}`,
  }))
  await importCatalog(database.pool, listSource('world', lines), { prune: false })
}

test('a promise that the budget cannot keep is refused with both numbers, and nothing is changed', async () => {
  const it = await opened()
  const stored = () => it.rows('select * from collab_store.definitions')
  const before = await stored()
  await expect(
    migrate(it.database.url, { freshnessPromiseMs: 60_000, refreshBudget: 0.5 }),
  ).rejects.toThrow(
    /FRESHNESS_PROMISE=1m for \d+ scopes needs a REFRESH_BUDGET of [\d.]+ calls a second, and it is 0\.5\./,
  )
  expect(await stored()).toEqual(before)
})
