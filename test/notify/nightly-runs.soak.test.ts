import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Notifier } from '../../src/notify/notifier.ts'
import { startReceiver } from './receiver-server.ts'
import type { ReceiverServer } from './receiver-server.ts'
import { lookTogether, openRig } from './rig.ts'
import type { Rig } from './rig.ts'

/** What is told of nightly runs, and that it is told once, however many processes look. */

let receiver: ReceiverServer
let rig: Rig
let three: Notifier[]
/** What the receiver took since the test began. */
let told: () => { type: string; data: Record<string, unknown> }[]

// Due half a day ago, whenever the test runs.
const hour = (new Date().getUTCHours() + 12) % 24
const nightly = { cron: `0 ${hour} * * *`, timeZone: 'UTC' }
const SCHEDULE = `${nightly.cron} ${nightly.timeZone}`
const readNightly = async () => nightly

beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(async () => {
  await rig.close()
  await receiver.close()
})

beforeEach(async () => {
  await rig?.close()
  rig = await openRig([{ shape: 'json', url: `${receiver.url}/hook` }])
  three = [rig.notifier({ readNightly }), rig.notifier({ readNightly }), rig.notifier()]
  const before = receiver.received.length
  told = () => receiver.received.slice(before).map(({ body }) => body)
  // As if somebody had looked for two days.
  await rig.database.pool.query(
    `update sync.notify_watch set schedule = $1, watching_since = now() - interval '2 days',
      schedule_since = now() - interval '2 days'`,
    [SCHEDULE],
  )
  // The last night is there, unless a test takes it away.
  await rig.endedRun({ trigger: 'schedule' })
})

async function forgetNights(): Promise<void> {
  await rig.database.pool.query(`delete from sync.runs where trigger = 'schedule'`)
}

test('a nightly run that does not start is told once a night, and that it is well again', async () => {
  await lookTogether(three)
  expect(told()).toEqual([])
  await forgetNights()
  await lookTogether(three)
  expect(told()).toMatchObject([
    { type: 'nightly.missed', data: { dueAt: expect.stringMatching(/T\d\d:00:00/), ...nightly } },
  ])
  const runId = await rig.endedRun({ trigger: 'schedule' })
  await lookTogether(three)
  expect(told()[1]).toMatchObject({ type: 'nightly.recovered', data: { runId } })
  expect(told()).toHaveLength(2)
})

test('a night before the schedule was known, or set anew, was not missed', async () => {
  await forgetNights()
  const { pool } = rig.database
  await pool.query('update sync.notify_watch set schedule_since = now()')
  await lookTogether(three)
  await pool.query(
    `update sync.notify_watch set schedule = 'another', schedule_since = '2020-01-01'`,
  )
  await lookTogether(three)
  expect(told()).toEqual([])
})

test('a process that does not keep the schedule looks at no night, and does not touch what is known of it', async () => {
  await forgetNights()
  await lookTogether([rig.notifier(), rig.notifier({ readNightly: async () => null })])
  expect(told()).toEqual([])
  const { rows } = await rig.database.pool.query('select schedule from sync.notify_watch')
  expect(rows).toEqual([{ schedule: SCHEDULE }])
})

test('a nightly run beyond its usual time is told once, and that it ended well', async () => {
  await forgetNights()
  for (const hours of [73, 49, 25]) {
    await rig.endedRun({ trigger: 'schedule', asked: hours, ended: hours - 1 })
  }
  const { pool } = rig.database
  const { rows } = await pool.query(
    `insert into sync.runs (trigger, status, requested_at) values ('schedule', 'running', now() - interval '100 minutes')
    returning run_id`,
  )
  const runId = rows[0].run_id
  await lookTogether(three)
  expect(told()).toEqual([])
  await pool.query(
    `update sync.runs set requested_at = now() - interval '150 minutes' where run_id = $1`,
    [runId],
  )
  await lookTogether(three)
  expect(told()).toMatchObject([{ type: 'nightly.late', data: { runId } }])
  await pool.query(
    `update sync.runs set status = 'succeeded', finished_at = now() where run_id = $1`,
    [runId],
  )
  await lookTogether(three)
  expect(told()[1]).toMatchObject({ type: 'nightly.recovered', data: { runId } })
  expect(told()).toHaveLength(2)
})
