import { beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import type { App } from '../../src/worker/app.ts'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import { UsageError } from '../../src/base/errors.ts'
import { openQueueLate } from '../../src/http/start-http.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { randomPrefix } from '../helpers/redis.ts'
import { onApp } from './on-app.ts'

const UNKNOWN = '00000000-0000-4000-8000-000000000000'

describe('asking for runs', () => {
  let live: Live
  let app: App
  let collabSync: CollabSync

  beforeEach(async () => {
    live = await openLoaded('postgres')
    app = await live.openApp()
    collabSync = onApp(app)
  })

  test('the same key gives the run that it made, in whatever order the scope names its members', async () => {
    const [first = ''] = live.world.organizationIds()
    const reordered = { operations: ['users' as const], organizationIds: [first] }
    const request = { scope: reordered, idempotencyKey: 'tuesday' }
    const { runId } = await collabSync.startRun(request)
    const same = { organizationIds: [first], operations: ['users' as const] }
    expect(await collabSync.startRun({ ...request, scope: same })).toMatchObject({
      runId,
      isNew: false,
    })
    await expect(collabSync.startRun({ ...request, scope: {} })).rejects.toThrow(
      new UsageError(`idempotencyKey was used for another request before, by run ${runId}.`),
    )
    const tooLong = collabSync.startRun({ idempotencyKey: 'a'.repeat(256) })
    await expect(tooLong).rejects.toThrow(/^idempotencyKey must not be longer than 255/)
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
    await expect(collabSync.retryRun(runId)).rejects.toThrow('is still in progress')
  })

  test('a run that the queue did not get is stored, and a worker takes it up', async () => {
    const place = { kind: 'redis', url: 'redis://127.0.0.1:1', prefix: randomPrefix() } as const
    const away = openQueueLate(place, app.log)
    const asked = await onApp(app, { queue: away }).startRun()
    expect(asked).toMatchObject({ isNew: true, isDelivered: false })
    const worker = await startWorker(app, jobs, { keepsSchedule: false })
    expect(await collabSync.waitForRun(asked.runId)).toMatchObject({ status: 'succeeded' })
    await worker.stop()
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
})
