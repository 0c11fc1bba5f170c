import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { openLoaded, settled, SMALL_WORLD, startOn } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { until } from '../helpers/until.ts'
import { openRig } from '../faults/rig.ts'
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
    live = await openLoaded('postgres', {
      settings: {
        NOTIFY_URL: receiver.url,
        NOTIFY_SECRET: SECRET,
        // No night begins while this test runs.
        SYNC_CRON: '0 0 29 2 *',
      },
    })
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
      return settled(live.database, await startOn(app))
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

const DOWN_MS = 16_000

test.each([
  ['when the run ends', 'select from sync.runs where finished_at is not null'],
  ['when its messages are created', 'select from sync.notifications'],
  [
    'while they are sent',
    'select from sync.notification_deliveries where attempts > 0 and problem is null',
  ],
])(
  'with receivers that are down for 16 s and both workers killed %s, each message is sent once',
  async (_, moment) => {
    const [hook, heartbeat] = [await startReceiver(), await startReceiver()]
    const rig = await openRig('postgres', {
      world: SMALL_WORLD,
      settings: {
        NOTIFY_URL: `${hook.url}#events=run.finished,run.failed heartbeat+${heartbeat.url}/ping`,
        NOTIFY_SECRET: SECRET,
        SYNC_CRON: '0 0 29 2 *',
      },
    })
    const start = () => rig.start({ TEST_KEEPS_SCHEDULE: '1', TEST_DEAD_AFTER_S: '6' })
    const workers = [await start(), await start()]
    for (const each of [hook, heartbeat]) each.answer(503)
    const runId = await rig.startRun('schedule')
    await until('it is the moment', async () => (await rig.rows(moment)).length > 0)
    await Promise.all(workers.map((worker) => worker.kill()))
    const again = [await start(), await start()]
    await sleep(DOWN_MS)
    for (const each of [hook, heartbeat]) each.answer(200)
    const sent = () => [hook, heartbeat].map(({ received }) => received.length)
    // A worker that is killed while it sends leaves the message to another after 90 s.
    await expect.poll(sent, { timeout: 240_000, interval: 500 }).toEqual([1, 1])
    // Two more checks.
    await sleep(22_000)
    await Promise.all(again.map((worker) => worker.stop()))
    expect(sent()).toEqual([1, 1])
    expect(hook.received[0]?.body).toMatchObject({
      type: 'run.finished',
      data: { runId, status: 'succeeded', completeUpTo: expect.stringMatching(/Z$/) },
    })
    expect(heartbeat.received[0]).toMatchObject({ method: 'GET', path: '/ping' })
  },
)
