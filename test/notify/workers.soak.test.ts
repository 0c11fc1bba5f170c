import { beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { startRun } from '../../src/core/run/start.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { openLive, settled } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { startReceiver } from './receiver-server.ts'
import type { ReceiverServer } from './receiver-server.ts'
import { SECRET } from './rig.ts'

describe('whole workers', () => {
  let live: Live
  let receiver: ReceiverServer
  let organizationId: string
  const types = () => receiver.received.map(({ body }) => body.type)

  beforeEach(async () => {
    receiver = await startReceiver()
    live = await openLive('postgres', {
      settings: {
        NOTIFY_URL: receiver.url,
        NOTIFY_SECRET: SECRET,
        // No night begins while this test runs.
        SYNC_CRON: '0 0 29 2 *',
      },
    })
    await live.importCatalog()
    organizationId = [...live.world.organizationIds()][0] as string
  })

  test('three of them tell once of a run with a refused organization, and once that it is well again', async () => {
    const apps = [await live.openApp(), await live.openApp(), await live.openApp()]
    const workers = await Promise.all(
      apps.map((app) => startWorker(app, jobs, { keepsSchedule: true })),
    )
    const [app] = apps
    if (app === undefined) throw new Error('no app')
    const run = async () => {
      const { runId, items } = await startRun(app.sync, {
        trigger: 'cli',
        scope: {},
        requestKey: null,
      })
      await app.deliver(items)
      return settled(live.database, runId)
    }
    live.standIn.setFaults([{ kind: 'forbidden', match: { operation: 'users', organizationId } }])
    const bad = await run()
    expect(bad.status).toBe('partial')
    await expect.poll(types, { timeout: 120_000 }).toEqual(['scopes.failing'])
    live.standIn.setFaults([])
    expect((await run()).status).toBe('succeeded')
    await expect.poll(types, { timeout: 120_000 }).toEqual(['scopes.failing', 'scopes.recovered'])
    await Promise.all(workers.map((worker) => worker.stop()))
    expect(types()).toEqual(['scopes.failing', 'scopes.recovered'])
    expect(receiver.received[0]?.body.data).toMatchObject({
      count: bad['scopes_failed'],
      first: [{ organizationId, count: bad['scopes_failed'] }],
      path: `/runs/${bad.run_id}`,
    })
  })

  test('a process that is there for its run alone tells of it before it ends', async () => {
    live.standIn.setFaults([{ kind: 'forbidden', match: { operation: 'users', organizationId } }])
    const { run_id: runId } = await live.run()
    expect(receiver.received.map(({ body }) => [body.type, body.data['path']])).toEqual([
      ['scopes.failing', `/runs/${runId}`],
    ])
    live.standIn.setFaults([])
    await live.run()
    expect(types()).toEqual(['scopes.failing', 'scopes.recovered'])
  })
})
