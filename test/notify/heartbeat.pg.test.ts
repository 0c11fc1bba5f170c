import { beforeEach, expect, test } from 'vitest'
import { startReceiver } from './receiver-server.ts'
import type { ReceiverServer } from './receiver-server.ts'
import { lookTogether, openRig } from './rig.ts'
import type { Rig } from './rig.ts'

/** Pings after each night, by the rules of Healthchecks.io. */

let receiver: ReceiverServer
let rig: Rig

const sql = async (text: string, values: unknown[] = []) => rig.database.rows(text, ...values)
const paths = () => receiver.received.map(({ path }) => path)
const endedNight = (status = 'succeeded') => rig.endedRun({ trigger: 'schedule', status })
/** Lets a failed ping be due at once. */
const passTime = () => sql('update sync.notification_deliveries set next_at = now()')
const deliveries = () =>
  sql(
    `select sent_at is not null as sent, given_up_at is not null as given_up, problem, attempts
    from sync.notification_deliveries join sync.notifications using (notification_id) order by noted_at`,
  )

const OK = '/T0PSECRET/uuid?create=1'
const FAIL = '/T0PSECRET/uuid/fail?create=1'

beforeEach(async () => {
  receiver = await startReceiver()
  rig = await openRig([{ shape: 'heartbeat', url: `${receiver.url}${OK}` }])
  await rig.notifier().check()
})

test.each([
  ['succeeded', OK],
  ['partial', OK],
  ['failed', FAIL],
  ['cancelled', FAIL],
])('a night that ended as %s is one GET of %s', async (status, path) => {
  await endedNight(status)
  await lookTogether([rig.notifier(), rig.notifier()])
  expect(receiver.received).toMatchObject([{ method: 'GET', path, text: '' }])
  expect(Object.keys(receiver.received[0]!.headers).join()).not.toMatch(/webhook|content/)
})

test('no other run is a ping, nor a night that ended before the heartbeat was first seen', async () => {
  await endedNight()
  for (const trigger of ['cli', 'http', 'api', 'hint', 'refresh'])
    await rig.endedRun({ trigger, status: 'failed', failed: 10 })
  const later = rig.notifier({
    notifyUrls: [{ shape: 'heartbeat', url: `${receiver.url}/later` }],
  })
  await lookTogether([later])
  expect(paths()).toEqual([])
  await lookTogether([rig.notifier()])
  expect(paths()).toEqual([OK])
})

test('a path that ends with / gets /fail once', async () => {
  const slash = rig.notifier({ notifyUrls: [{ shape: 'heartbeat', url: `${receiver.url}/a/` }] })
  await slash.check()
  await endedNight('failed')
  await lookTogether([slash])
  expect(paths()).toEqual(['/a/fail'])
})

test.each([
  [503, 'HTTP 503'],
  [302, 'HTTP 302'],
])('a ping with response %d is sent again, in one attempt a claim', async (status, problem) => {
  receiver.answer(status, { location: `${receiver.url}/elsewhere` })
  await endedNight()
  await lookTogether([rig.notifier()])
  expect(receiver.asked()).toBe(1)
  expect(await deliveries()).toMatchObject([{ sent: false, given_up: false, problem }])
  receiver.answer(200)
  await passTime()
  await lookTogether([rig.notifier()])
  expect(paths()).toEqual([OK])
})

test('a ping that is an hour late is dropped', async () => {
  const age = (minutes: number) =>
    sql(`update sync.runs set finished_at = now() - make_interval(mins => $1)`, [minutes])
  receiver.answer(503)
  await endedNight()
  await lookTogether([rig.notifier()])
  await age(59)
  await passTime()
  await lookTogether([rig.notifier()])
  expect(receiver.asked()).toBe(2)
  receiver.answer(200)
  await age(61)
  await passTime()
  await lookTogether([rig.notifier()])
  expect(paths()).toEqual([])
  expect(await deliveries()).toMatchObject([{ sent: false, given_up: true, problem: 'HTTP 503' }])
})

test('when a newer night has ended, the older ping is dropped', async () => {
  receiver.answer(503)
  await endedNight()
  await lookTogether([rig.notifier()])
  await endedNight('failed')
  receiver.answer(200)
  await passTime()
  await lookTogether([rig.notifier(), rig.notifier()])
  await passTime()
  await lookTogether([rig.notifier()])
  expect(paths()).toEqual([FAIL])
  expect(await deliveries()).toMatchObject([{ given_up: true }, { sent: true }])
})

test('the ping of a newer night waits for the response to the older one, in every process', async () => {
  const release = receiver.hold()
  await endedNight()
  const [one, two] = [rig.notifier(), rig.notifier()]
  await one.check()
  const older = one.deliver()
  await expect.poll(paths).toEqual([OK])
  await endedNight('failed')
  await two.check()
  expect(await two.deliver()).toBe(0)
  expect(paths()).toEqual([OK])
  release()
  // After the older one, the same process finds the newer one.
  expect(await older).toBe(2)
  expect(paths()).toEqual([OK, FAIL])
})

test('a heartbeat gets no other message, and its address is in no log line and no table', async () => {
  receiver.answer(500)
  await endedNight('failed')
  await lookTogether([rig.notifier()])
  const rows = await sql(
    `select (select jsonb_agg(n) from sync.notifications n) as n, (select jsonb_agg(d) from sync.notification_deliveries d) as d,
      (select jsonb_agg(r) from sync.notification_receivers r) as r`,
  )
  const seen = rig.logged.join('') + JSON.stringify(rows)
  expect(seen).toContain('HTTP 500')
  expect(seen).not.toMatch(/T0PSECRET|127\.0\.0\.1/)
  expect(receiver.asked()).toBe(1)
})
