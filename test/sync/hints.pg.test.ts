import { beforeEach, describe, expect, test } from 'vitest'
import { addToCatalog, removeFromCatalog } from '../../src/features/catalog/change.ts'
import { lock } from '../../src/core/database/locks.ts'
import { transaction } from '../../src/core/database/pool.ts'
import * as runs from '../../src/core/database/statements/runs.ts'
import { edit } from '../../src/demo/changes.ts'
import type { HintScope } from '../../src/schemas/hint.ts'
import { UsageError } from '../../src/base/errors.ts'
import { hint } from '../../src/features/refresh/hint.ts'
import { stopRun } from '../../src/core/run/stop.ts'
import { openLoaded, settled } from '../helpers/live.ts'
import { busyPlace, scopeOf } from '../helpers/places.ts'
import { until } from '../helpers/until.ts'

/** Hints are given in parallel: one transaction each, on the connections of one process. */
const MANY = 100

const live = await openLoaded('postgres')
const app = await live.openApp()
beforeEach(async () => {
  await live.database.pool.query('truncate sync.runs, sync.hints cascade')
  await refresh(null)
})

/** As `migrate` leaves the tables with a REFRESH_BUDGET, or without. */
async function refresh(budget: number | null): Promise<void> {
  await live.rows('update collab_store.definitions set refresh_budget = $1', budget)
}

const rows = (sql: string) => live.rows(sql)
const place = () => busyPlace(live.world, 1)
const thread = (): HintScope => scopeOf(place())
const document = (): HintScope => {
  const { organizationId, documentId } = place()
  return { organizationIds: [organizationId], documentId }
}
/** How many annotations the document has. */
const annotations = () =>
  [...live.world.annotationIds(place().organizationId, place().documentId)].length

const give = (scope: HintScope) => hint({ database: app.store.database }, scope)
const giveMany = (scope: HintScope) => Promise.all(Array.from({ length: MANY }, () => give(scope)))
const begin = (runId: string | null) => runs.begin.run(live.database.pool, { runId: runId ?? '' })

describe('without refresh', () => {
  test('a thread hinted many times at once is one run, of its comments alone', async () => {
    const given = await giveMany(thread())
    const [{ runId } = { runId: null }] = given.map(({ hinted }) => hinted)
    expect(new Set(given.map(({ hinted }) => hinted.runId)).size).toBe(1)
    expect(given.filter(({ items }) => items.length > 0)).toHaveLength(1)
    expect(await rows('select run_id, trigger, status, scope from sync.runs')).toEqual([
      {
        run_id: runId,
        trigger: 'hint',
        status: 'queued',
        scope: { ...thread(), operations: ['comments'] },
      },
    ])
    expect(await rows('select from sync.hints')).toEqual([])
  })

  test('hints that waited for each other share the run that the first of them made', async () => {
    const given = await transaction(live.database.pool, async (client) => {
      await lock(client, 'hints')
      const both = Promise.all([give(thread()), give(thread())])
      const waiting = () =>
        rows(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
      await until('both wait', async () => (await waiting()).length === 2)
      return { both }
    })
    const [first, second] = await given.both
    expect(second?.hinted).toEqual(first?.hinted)
    expect(await rows('select from sync.runs')).toHaveLength(1)
  })

  test('a run that has begun, or is about to end, is none that will look later', async () => {
    const { hinted: first } = await give(thread())
    await begin(first.runId)
    const { hinted: second } = await give(thread())
    expect(second.runId).not.toBe(first.runId)
    expect((await give(thread())).hinted).toEqual(second)
    await stopRun(app.sync, second.runId ?? '', 'cancelled', 'by a test')
    expect((await give(thread())).hinted.runId).not.toBe(second.runId)
  })

  test('while others begin its runs, each hint gets one that begins later', async () => {
    // Moments are numbers in the order in which they came.
    let moment = 0
    const begunAt = new Map<string, number>()
    let isOver = false
    const beginning = (async () => {
      while (!isOver) {
        const begun = await live.rows(
          `update sync.runs set status = 'running', started_at = now() where status = 'queued' returning run_id`,
        )
        // A worker calls the service from here on.
        for (const { run_id: runId } of begun) begunAt.set(runId, (moment += 1))
      }
    })()
    const giveOne = async () => {
      const saidAt = (moment += 1)
      const { hinted } = await give(thread())
      return { saidAt, runId: hinted.runId ?? '' }
    }
    const given: Awaited<ReturnType<typeof giveOne>>[] = []
    for (let round = 0; round < 4; round += 1) {
      given.push(...(await Promise.all(Array.from({ length: 20 }, giveOne))))
      await until('all their runs began', () => given.every(({ runId }) => begunAt.has(runId)))
    }
    isOver = true
    await beginning
    for (const { saidAt, runId } of given) expect(begunAt.get(runId)).toBeGreaterThan(saidAt)
    expect(begunAt.size).toBe(new Set(given.map(({ runId }) => runId)).size)
  })

  test('a document is all its active annotations, also one that came while the run waited', async () => {
    const { hinted: first } = await give(document())
    expect(first).toMatchObject({ annotations: annotations() })
    const line = { organizationId: place().organizationId, documentId: place().documentId }
    const by = { source: 'a test', requestedBy: 'somebody' }
    await addToCatalog(live.database.pool, [{ ...line, annotationId: 'new' }], by)
    const { hinted: second } = await give(document())
    expect(second).toMatchObject({ annotations: annotations() + 1 })
    expect(second.runId).not.toBe(first.runId)
    await removeFromCatalog(live.database.pool, [{ ...line, annotationId: 'new' }], by)
    expect((await give(document())).hinted.runId).not.toBeNull()
    await begin(first.runId)
    await begin(second.runId)
    expect((await give(document())).hinted).toMatchObject({ annotations: annotations() })
  })

  test('what changed is in the tables, whatever SYNC_OPERATIONS says', async () => {
    await live.define({ SYNC_OPERATIONS: 'users' })
    await live.openWorker({ SYNC_OPERATIONS: 'users' })
    await live.define({})
    const { hinted, items } = await give(thread())
    await app.deliver(items)
    expect(await settled(live.database, hinted.runId ?? '')).toMatchObject({
      status: 'succeeded',
      annotations_done: 1,
    })
    const [comment] = live.world.comments(place()) ?? []
    edit(live.world, place(), comment?.commentId ?? 0, { text: 'hinted' })
    const again = await give(thread())
    await app.deliver(again.items)
    await settled(live.database, again.hinted.runId ?? '')
    expect(await rows(`select from collab.comments where comment_text = 'hinted'`)).toHaveLength(1)
  })
})

describe('with refresh', () => {
  beforeEach(() => refresh(40))

  const noted = () =>
    rows(
      `select h.xmin::text, h.xmax::text, h.ctid::text, a.annotation_id, claimed_at is null as waits
      from sync.hints h join collab_store.annotations a using (annotation_key) order by 4`,
    )

  test('a thread hinted many times is one row, written once', async () => {
    const { hinted } = await give(thread())
    expect(hinted).toEqual({ runId: null, annotations: 1 })
    const once = await noted()
    expect(once).toMatchObject([{ annotation_id: place().annotationId, waits: true, xmax: '0' }])
    for (const each of await giveMany(thread())) expect(each).toEqual({ hinted, items: [] })
    expect(await noted()).toEqual(once)
    expect(await rows('select from sync.runs')).toEqual([])
  })

  test('one that a worker has taken waits for another look', async () => {
    await give(thread())
    await live.database.pool.query(
      `update sync.hints set claimed_at = clock_timestamp(), worker_id = 'w', hinted_at = '2000-01-01Z'`,
    )
    await give(thread())
    expect(
      await rows(
        `select claimed_at, worker_id, hinted_at > now() - interval '1 minute' as is_now from sync.hints`,
      ),
    ).toEqual([{ claimed_at: null, worker_id: null, is_now: true }])
  })

  test('a document is all its annotations; many documents at once do not wait for each other in a circle', async () => {
    const both = Array.from({ length: 100 }, (_, n) => (n % 2 ? document() : thread()))
    const given = await Promise.all(both.map(give))
    expect(given[1]?.hinted).toEqual({ runId: null, annotations: annotations() })
    expect(await noted()).toHaveLength(annotations())
  })

  test('whether it holds is asked anew with each hint', async () => {
    await give(thread())
    await refresh(null)
    expect((await give(thread())).hinted.runId).not.toBeNull()
  })
})

describe.each([
  ['without refresh', null],
  ['with refresh', 40],
])('%s', (_, budget) => {
  beforeEach(() => refresh(budget))

  test.each([
    [() => ({ ...thread(), organizationIds: ['nobody'] }), 'Organization "nobody" is not in the'],
    [() => ({ ...document(), documentId: 'none' }), 'Document "none" is not in the catalog; add'],
    [() => ({ ...document(), annotationId: 'none' }), 'Annotation "none" is not in the catalog;'],
  ])('what the catalog lacks is refused: %#', async (scope, sentence) => {
    await expect(give(scope())).rejects.toThrow(UsageError)
    await expect(give(scope())).rejects.toThrow(sentence)
    expect(await rows('select from sync.runs union all select from sync.hints')).toEqual([])
  })

  test('a document without an annotation is refused as a run of it is', async () => {
    const line = { organizationId: place().organizationId, documentId: 'empty' }
    const by = { source: 'a test', requestedBy: 'somebody' }
    await addToCatalog(live.database.pool, [line], by)
    await expect(
      give({ organizationIds: [line.organizationId], documentId: 'empty' }),
    ).rejects.toThrow('Document "empty" has no annotation in the catalog')
    expect(await rows('select from sync.runs union all select from sync.hints')).toEqual([])
  })
})

test('a worker that begins the run at this moment is waited for', async () => {
  const { hinted } = await give(thread())
  let second: Promise<unknown> | undefined
  await transaction(live.database.pool, async (client) => {
    await runs.begin.run(client, { runId: hinted.runId ?? '' })
    second = give(thread())
    await second
  })
  // Its call comes after it has begun, so the hint of before that is covered by it.
  expect(await second).toEqual({ hinted, items: [] })
})
