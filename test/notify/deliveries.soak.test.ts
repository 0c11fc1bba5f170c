import { createHmac } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import { keepNotified } from '../../src/features/notify/notifier.ts'
import { receiversOf } from '../../src/features/notify/post.ts'
import type { ReceiverAddress } from '../../src/schemas/notification-type.ts'
import { startReceiver } from './receiver-server.ts'
import type { Received, ReceiverServer } from './receiver-server.ts'
import { lookTogether, openRig, SECRET } from './rig.ts'
import type { Rig } from './rig.ts'

/** How messages reach their receivers. */

let receiver: ReceiverServer
let other: ReceiverServer
let rig: Rig

beforeEach(async () => {
  receiver = await startReceiver()
  other = await startReceiver()
  rig = await openRig([
    { shape: 'json', url: `${receiver.url}/T0PSECRETPATH?sig=T0PSECRETQUERY` },
    { shape: 'slack', url: `${other.url}/services/T0PSECRETHOOK` },
  ])
  await rig.notifier().check()
})

/** Lets a failed delivery be due at once. */
async function passTime(): Promise<void> {
  await rig.database.pool.query('update sync.notification_deliveries set next_at = now()')
}

async function reportFailedRun(): Promise<void> {
  await rig.endedRun({ status: 'failed', failed: 10 })
  await lookTogether([rig.notifier()])
}

function deliveries() {
  return rig.database.rows(
    `select sent_at is not null as sent, given_up_at is not null as given_up, problem, attempts
    from sync.notification_deliveries order by problem nulls first`,
  )
}

test('a message has the id of its body in its header, and a signature that its receiver can check', async () => {
  await reportFailedRun()
  const { headers, text, body, path } = receiver.received[0] as Received
  expect(path).toBe('/T0PSECRETPATH?sig=T0PSECRETQUERY')
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': body.id })
  const key = Buffer.from(SECRET.slice(6), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
  const expected = createHmac('sha256', key).update(signed).digest('base64')
  expect(headers['webhook-signature']).toBe(`v1,${expected}`)
  expect(other.received).toHaveLength(1)
  expect(other.received[0]?.body).toMatchObject({ text: expect.stringMatching(/^collab-sync: /) })
})

test('a receiver that is down is told when it is up, once, under the same id; the other is told at once', async () => {
  await rig.endedRun({ status: 'failed', failed: 10 })
  receiver.answer(503)
  const three = [rig.notifier(), rig.notifier(), rig.notifier()]
  await lookTogether(three)
  expect(receiver.received).toEqual([])
  // Three tries at once; on a slow machine it is due once more before everybody is done.
  expect(receiver.asked()).toBeGreaterThanOrEqual(3)
  expect(other.received).toHaveLength(1)
  expect(await deliveries()).toMatchObject([
    { sent: true, problem: null },
    { sent: false, given_up: false, problem: 'HTTP 503' },
  ])

  receiver.answer(200)
  await passTime()
  await lookTogether(three)
  await passTime()
  await lookTogether(three)
  expect(receiver.received).toHaveLength(1)
  expect(other.received).toHaveLength(1)
})

test('a process that dies while it delivers leaves the message to another', async () => {
  await rig.endedRun({ status: 'failed', failed: 10 })
  const one = rig.notifier()
  await one.check()
  one.stop()
  expect(await one.deliver()).toBe(0)
  await rig.database.pool.query(
    `update sync.notification_deliveries set attempts = 1, next_at = now() + interval '90 seconds'`,
  )
  await lookTogether([rig.notifier()])
  expect(receiver.received).toEqual([])
  await passTime()
  await lookTogether([rig.notifier()])
  expect(receiver.received).toHaveLength(1)
})

test('a refused connection is recorded by its code alone', async () => {
  await receiver.close()
  await reportFailedRun()
  expect(await deliveries()).toMatchObject([
    { sent: true },
    { sent: false, problem: 'no connection (ECONNREFUSED)' },
  ])
  receiver = await startReceiver()
})

test('a redirect is not followed', async () => {
  receiver.answer(307, { location: `${other.url}/elsewhere` })
  await reportFailedRun()
  expect(other.received.map(({ path }) => path)).toEqual(['/services/T0PSECRETHOOK'])
  expect(await deliveries()).toContainEqual(expect.objectContaining({ problem: 'HTTP 307' }))
})

test('a receiver that does not respond delays no other receiver', async () => {
  const notifyUrls: ReceiverAddress[] = [
    { shape: 'slack', url: receiver.url },
    { shape: 'slack', url: other.url },
  ]
  const options = { staysOn: true, log: createLog('silent') }
  const notifying = await keepNotified(rig.database.pool, { notifyUrls }, options)
  const release = receiver.hold()
  // Slow checks are up to a minute apart.
  const checking = rig.notifier({ notifyUrls: notifyUrls })
  const key = receiversOf(notifyUrls)[0]?.key
  const firstDelivery = async () => {
    const rows = await rig.database.rows(
      `select attempts, problem from sync.notification_deliveries join sync.notifications using (notification_id)
      where receiver = $1 order by noted_at limit 1`,
      key,
    )
    return rows[0]
  }
  for (const messages of [1, 2]) {
    await rig.endedRun({ status: 'failed', failed: 10 })
    await expect.poll(() => checking.check(), { timeout: 60_000 }).toBe(true)
    await expect.poll(() => other.received.length, { timeout: 60_000 }).toBe(messages)
    // It begins beside the other one, and has not ended: its three requests take half a minute.
    await expect.poll(firstDelivery, { timeout: 60_000 }).toEqual({ attempts: 1, problem: null })
  }
  release()
  await notifying.stop()
})

test('a receiver that asks for a pause gets it', async () => {
  receiver.answer(429, { 'retry-after': '600' })
  await reportFailedRun()
  expect(receiver.asked()).toBe(1)
  const rows = await rig.database.rows(
    `select count(*)::int as waiting from sync.notification_deliveries
    where sent_at is null and next_at > now() + interval '9 minutes'`,
  )
  expect(rows[0].waiting).toBe(1)
})

test('after a day a message is given up, and its row says why', async () => {
  receiver.answer(404)
  await rig.endedRun({ status: 'failed', failed: 10 })
  await rig.notifier().check()
  await rig.database.rows(`update sync.notifications set noted_at = now() - interval '25 hours'`)
  await lookTogether([rig.notifier()])
  expect(await deliveries()).toMatchObject([
    { sent: true },
    { sent: false, given_up: true, problem: 'HTTP 404' },
  ])
  receiver.answer(200)
  await passTime()
  await lookTogether([rig.notifier()])
  expect(receiver.received).toEqual([])
  expect(rig.logged.join('')).toContain('was given up after a day')
})

test('a message to a receiver that is no longer in NOTIFY_URL is given up after a day', async () => {
  await rig.endedRun({ status: 'failed', failed: 10 })
  await rig.notifier().check()
  await rig.database.rows(`update sync.notifications set noted_at = now() - interval '2 days'`)
  await rig.database.pool.query(
    `update sync.notification_deliveries set next_at = now() - interval '2 days'`,
  )
  await lookTogether([rig.notifier({ notifyUrls: [{ shape: 'slack', url: other.url }] })])
  expect(await deliveries()).toMatchObject([
    { given_up: true, problem: 'no longer in NOTIFY_URL' },
    { given_up: true, problem: 'no longer in NOTIFY_URL' },
  ])
})

test('neither an address nor the secret is in a log line or a table, whatever fails', async () => {
  receiver.answer(500)
  await reportFailedRun()
  const rows = await rig.database.rows(
    `select (select jsonb_agg(n) from sync.notifications n) as n,
      (select jsonb_agg(d) from sync.notification_deliveries d) as d`,
  )
  const seen = rig.logged.join('') + JSON.stringify(rows)
  expect(seen).toContain('HTTP 500')
  expect(seen).not.toMatch(/T0PSECRET|127\.0\.0\.1/)
  expect(seen).not.toContain(SECRET)
  // Nor is a word of the service in a message.
  const messages = [...receiver.received, ...other.received].map(({ text }) => text)
  expect(messages.join('')).not.toContain('SECRET of the service')
})
