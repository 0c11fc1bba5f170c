import { expect, test } from 'vitest'
import { checkNotify, testNotify } from '../../src/cli/doctor/check-notify.ts'
import { startReceiver } from './receiver-server.ts'
import { lookTogether, openRig } from './rig.ts'

const receiver = await startReceiver()
const rig = await openRig([{ shape: 'teams', url: `${receiver.url}/T0PSECRET` }])
await rig.notifier().check()

test('doctor says of each receiver whether it takes what it is told, by its host alone', async () => {
  const addresses = [{ shape: 'teams', url: `${receiver.url}/T0PSECRET` }] as const
  const { host } = new URL(receiver.url)
  expect(await checkNotify(rig.database.pool, addresses)).toEqual([
    {
      check: 'notify',
      state: 'ok',
      found: `teams at ${host}: no message was sent yet; collab-sync doctor --notify sends a test message`,
    },
  ])
  await rig.endedRun({ status: 'failed', failed: 1 })
  await lookTogether([rig.notifier()])
  expect((await checkNotify(rig.database.pool, addresses))[0]!.found).toMatch(
    /: accepted the last message at 20\d\d-/,
  )
  receiver.answer(410)
  await rig.endedRun({ status: 'failed', failed: 1 })
  await lookTogether([rig.notifier()])
  expect(await checkNotify(rig.database.pool, addresses)).toEqual([
    {
      check: 'notify',
      state: 'warn',
      found: `teams at ${host}: 0 messages undelivered and 1 pending in the last week (HTTP 410)`,
      fix: expect.stringContaining('NOTIFY_URL'),
    },
  ])
})

test('doctor neither pings a heartbeat nor leaves it out', async () => {
  const asked = receiver.asked()
  const { host } = new URL(receiver.url)
  const notifyUrls = [{ shape: 'heartbeat', url: `${receiver.url}/T0PSECRET` }] as const
  expect(await checkNotify(rig.database.pool, notifyUrls)).toEqual([
    {
      check: 'notify',
      state: 'ok',
      found: `heartbeat at ${host}: no ping was sent yet; the end of the next nightly run sends one`,
    },
  ])
  expect(await testNotify({ notifyUrls })).toEqual([
    {
      check: 'notify',
      state: 'skip',
      found: `not checked, because a ping of the heartbeat at ${host} would report the end of a nightly run`,
    },
  ])
  expect(receiver.asked()).toBe(asked)
})
