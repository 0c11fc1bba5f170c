import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import type { App } from '../../src/worker/app.ts'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import type { Run } from '../../src/documents/run.ts'
import { UsageError } from '../../src/base/errors.ts'
import { openQueueLate } from '../../src/http/start-http.ts'
import { startWorker } from '../../src/worker/worker.ts'
import type { RunningWorker } from '../../src/worker/worker.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { isMissing, openLive, QUEUE_KINDS } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { randomPrefix } from '../helpers/redis.ts'
import { onApp } from './on-app.ts'

const UNKNOWN = '00000000-0000-4000-8000-000000000000'

describe.each(QUEUE_KINDS)('asking for runs with the queue on %s', (kind) => {
  let live: Live
  let app: App
  let collabSync: CollabSync
  const workers: RunningWorker[] = []

  beforeEach(async (context) => {
    if (isMissing(kind)) return context.skip()
    live = await openLive(kind)
    await live.importCatalog()
    app = await live.openApp()
    collabSync = onApp(app)
  })
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()))
    await live?.close()
  })

  test('a run is asked for, worked off by a worker, and followed to its end', async () => {
    await work()
    const [organizationId = ''] = live.world.organizationIds()
    const scope = { organizationIds: [organizationId] }
    const asked = await collabSync.startRun({ scope })
    expect(asked).toMatchObject({ isNew: true, isDelivered: true })
    const run = await collabSync.waitForRun(asked.runId)
    expect(run).toMatchObject({
      runId: asked.runId,
      trigger: 'api',
      status: 'succeeded',
      scope,
      organizationsDone: 1,
      failuresByCause: [],
      heldWaiting: 0,
    })
    expect(run.durationMs).toBeGreaterThan(0)
    expect(await collabSync.getRun(asked.runId)).toEqual({ ...run, readAt: expect.any(Date) })
    await collabSync.waitForRun((await collabSync.startRun()).runId)
    await expectTablesEqual(live.database, live.world)
  })

  test('the same key gives the run that it made, also to many at once, and refuses another scope', async () => {
    const [first = '', second = ''] = live.world.organizationIds()
    const request = { scope: { organizationIds: [first] }, idempotencyKey: 'monday' }
    const asked = await Promise.all(Array.from({ length: 12 }, () => collabSync.startRun(request)))
    expect(new Set(asked.map(({ runId }) => runId)).size).toBe(1)
    expect(asked.filter(({ isNew }) => isNew)).toHaveLength(1)
    const reordered = { operations: ['users' as const], organizationIds: [first] }
    const { runId } = await collabSync.startRun({ scope: reordered, idempotencyKey: 'tuesday' })
    const same = { organizationIds: [first], operations: ['users' as const] }
    expect(await collabSync.startRun({ scope: same, idempotencyKey: 'tuesday' })).toMatchObject({
      runId,
      isNew: false,
    })
    const other = { ...request, scope: { organizationIds: [second] } }
    await expect(collabSync.startRun(other)).rejects.toThrow(UsageError)
    await expect(collabSync.startRun(other)).rejects.toThrow(/^idempotencyKey was used for another/)
    expect((await collabSync.listRuns()).items).toHaveLength(2)
    // What asks in another way has keys of its own.
    expect(await onApp(app, { trigger: 'http' }).startRun(request)).toMatchObject({ isNew: true })
  })

  test('a key still gives its run when the catalog has lost what it asked for', async () => {
    const scope = { organizationIds: [[...live.world.organizationIds()][0] as string] }
    const asked = await collabSync.startRun({ scope, idempotencyKey: 'kept' })
    await live.database.pool.query('update collab_store.organizations set active = false')
    await expect(collabSync.startRun({ scope })).rejects.toThrow('The catalog is empty')
    const again = await collabSync.startRun({ scope, idempotencyKey: 'kept' })
    expect(again).toMatchObject({ runId: asked.runId, isNew: false })
  })

  test('a retry asks for what failed and nothing else, and again with its key makes no other run', async () => {
    await work()
    const [organizationId = '', sound = ''] = live.world.organizationIds()
    const match = { operation: 'users', organizationId } as const
    live.standIn.setFaults([{ kind: 'forbidden', match }])
    const scope = { organizationIds: [organizationId, sound] }
    const { runId } = await collabSync.startRun({ scope })
    const run = await collabSync.waitForRun(runId)
    expect(run).toMatchObject({ status: 'partial' })
    expect(run.scopesFailed).toBeGreaterThan(1)
    expect(run.failuresByCause).toMatchObject([{ operation: 'users', httpStatus: 403 }])
    const { items: failures } = await collabSync.listFailures({ runId })
    expect(failures).toHaveLength(run.scopesFailed)
    expect(failures[0]).toMatchObject({ runId, operation: 'users', organizationId })
    const { items: organizations } = await collabSync.listOrganizations()
    expect(failingOf(organizations)).toEqual({ [organizationId]: run.scopesFailed })

    live.standIn.setFaults([])
    live.standIn.calls.reset()
    const retried = await collabSync.retryRun(runId, { idempotencyKey: 'again' })
    expect(await collabSync.waitForRun(retried.runId)).toMatchObject({
      status: 'succeeded',
      scope,
      scopesSucceeded: run.scopesFailed,
    })
    expect(live.standIn.calls.total).toBe(run.scopesFailed)
    expect(failingOf((await collabSync.listOrganizations()).items)).toEqual({})
    expect(await collabSync.retryRun(runId, { idempotencyKey: 'again' })).toMatchObject({
      runId: retried.runId,
      isNew: false,
    })
    await expect(collabSync.retryRun(retried.runId)).rejects.toThrow(
      `Nothing failed in run ${retried.runId}.`,
    )
  })

  test('a cancelled run ends and says who cancelled it, and one that is over is refused', async () => {
    const { runId } = await collabSync.startRun()
    await expect(collabSync.retryRun(runId)).rejects.toThrow('is still under way')
    await collabSync.cancelRun(runId)
    expect(await collabSync.getRun(runId)).toMatchObject({
      status: 'cancelled',
      problem: 'It was cancelled.',
    })
    await expect(collabSync.cancelRun(runId)).rejects.toThrow(
      new UsageError(`Run ${runId} is over: its status is cancelled.`),
    )
  })

  test('whoever watches a run sees it change and its settled state last', async () => {
    live.standIn.latencyMs = 100
    const { runId } = await collabSync.startRun()
    const seen: Run[] = []
    for await (const run of collabSync.watchRun(runId)) {
      if (seen.push(run) === 1) await work()
    }
    expect(seen.length).toBeGreaterThan(2)
    expect(seen[0]).toMatchObject({ status: 'queued', scopesSucceeded: 0 })
    expect(seen.filter(({ finishedAt }) => finishedAt !== null)).toHaveLength(1)
    expect(seen.at(-1)).toMatchObject({ status: 'succeeded' })
    const done = seen.map(({ scopesSucceeded }) => scopesSucceeded)
    expect(done).toEqual(done.toSorted((a, b) => a - b))
  })

  test('whoever watches can stop, by leaving or by a signal', async () => {
    const { runId } = await collabSync.startRun()
    for await (const run of collabSync.watchRun(runId)) {
      expect(run.status).toBe('queued')
      break
    }
    const giveUp = new AbortController()
    const waiting = collabSync.waitForRun(runId, { signal: giveUp.signal })
    const reason = new Error('enough')
    giveUp.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    const late = collabSync.waitForRun(runId, { signal: giveUp.signal })
    await expect(late).rejects.toBe(reason)
    expect(await collabSync.getRun(runId)).toMatchObject({ status: 'queued' })
  })

  test('a run that the queue did not get is stored, and a worker takes it up', async () => {
    const place = { kind: 'redis', url: 'redis://127.0.0.1:1', prefix: randomPrefix() } as const
    const away = openQueueLate(place, app.log)
    const asked = await onApp(app, { queue: away }).startRun()
    expect(asked).toMatchObject({ isNew: true, isDelivered: false })
    await work()
    expect(await collabSync.waitForRun(asked.runId)).toMatchObject({ status: 'succeeded' })
    await away.close()
  })

  test('a run that is not there, and an id that is none, are told the same way', async () => {
    for (const runId of [UNKNOWN, 'tuesday', '', `${UNKNOWN}'`, '\0']) {
      expect(await collabSync.getRun(runId)).toBeNull()
      const told = new UsageError(`There is no run ${JSON.stringify(runId)}.`)
      await expect(collabSync.cancelRun(runId)).rejects.toThrow(told)
      await expect(collabSync.retryRun(runId)).rejects.toThrow(told)
      await expect(collabSync.waitForRun(runId)).rejects.toThrow(told)
      await expect(collabSync.watchRun(runId)[Symbol.asyncIterator]().next()).rejects.toThrow(told)
    }
  })

  test('what is asked wrongly is refused by the name of the member, and nothing is started', async () => {
    const wrong: [request: object, told: RegExp][] = [
      [{ scope: { organisationIds: ['a'] } }, /^scope has no member "organisationIds"/],
      [
        { scope: { organizationIds: ['nowhere'] } },
        /^Organization "nowhere" is not in the catalog/,
      ],
      [{ scope: { organizationIds: ['a\0'] } }, /^scope\.organizationIds\.0 must not hold a NUL/],
      [
        { scope: { organizationIds: ['\ud800'] } },
        /^scope\.organizationIds\.0 must be well-formed/,
      ],
      [{ idempotencyKey: '' }, /^idempotencyKey must not be empty/],
      [{ idempotencyKey: 'a'.repeat(256) }, /^idempotencyKey must not be longer than 255/],
      [{ idempotencyKey: 'a\0' }, /^idempotencyKey must not hold a NUL/],
      [{ idempotencyKey: 7 }, /^idempotencyKey must be a text/],
    ]
    for (const [request, told] of wrong) {
      await expect(collabSync.startRun(request)).rejects.toThrow(UsageError)
      await expect(collabSync.startRun(request)).rejects.toThrow(told)
    }
    expect((await collabSync.listRuns()).items).toEqual([])
  })

  async function work(): Promise<void> {
    workers.push(await startWorker(await live.openApp(), jobs, { keepsSchedule: false }))
  }
})

/** Organizations of which something fails, and how much. */
function failingOf(organizations: readonly { organizationId: string; failing: number }[]) {
  const failing = organizations.filter((each) => each.failing > 0)
  return Object.fromEntries(failing.map((each) => [each.organizationId, each.failing]))
}
