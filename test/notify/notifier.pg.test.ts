import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Notifier } from '../../src/notify/notifier.ts'
import { startReceiver } from './receiver-server.ts'
import type { ReceiverServer } from './receiver-server.ts'
import { lookTogether, openRig } from './rig.ts'
import type { Rig } from './rig.ts'

/** What is told, and that it is told once, however many processes look. */

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
  await watchSince(48)
})

/** As if somebody had looked for so many hours. */
async function watchSince(hours: number): Promise<void> {
  await rig.database.pool.query(
    `update sync.notify_watch set schedule = $2, watching_since = now() - make_interval(hours => $1),
      schedule_since = now() - make_interval(hours => $1)`,
    [hours, SCHEDULE],
  )
  // The last night is there, unless a test takes it away.
  await rig.endedRun({ trigger: 'schedule' })
}

async function forgetNights(): Promise<void> {
  await rig.database.pool.query(`delete from sync.runs where trigger = 'schedule'`)
}

test('a run that ends badly is told once, and once more when a later one of its scope succeeds', async () => {
  const scope = { organizationIds: ['acme'] }
  const runId = await rig.endedRun({ status: 'partial', scope, failed: 3, asked: 1 })
  await lookTogether(three)
  expect(told()).toMatchObject([{ type: 'run.partial', data: { runId, scopesFailed: 3 } }])

  await rig.endedRun({ scope: { organizationIds: ['other'] } })
  await lookTogether(three)
  expect(told()).toHaveLength(1)

  const good = await rig.endedRun({ scope })
  await lookTogether(three)
  expect(told()[1]).toMatchObject({ type: 'run.recovered', data: { runId: good, problems: 1 } })
  expect(told()).toHaveLength(2)
})

test('a failed and a cancelled run are told, a good one is not', async () => {
  await rig.endedRun({ status: 'failed', scope: { organizationIds: ['y'] }, failed: 10 })
  await rig.endedRun({ status: 'cancelled', asked: 1 })
  await rig.endedRun({ scope: { organizationIds: ['x'] } })
  await lookTogether(three)
  const types = told().map(({ type }) => type)
  expect(types.sort()).toEqual(['run.cancelled', 'run.failed'])
})

test('what ended before anybody looked, or more than a day ago, is not told', async () => {
  await rig.endedRun({ status: 'failed', failed: 10, asked: 30, ended: 25 })
  await lookTogether(three)
  await watchSince(1)
  await rig.endedRun({ status: 'failed', failed: 10, asked: 3, ended: 2 })
  await lookTogether(three)
  expect(told()).toEqual([])
})

test('what is held is told once when its run is over, and once more when nothing waits any more', async () => {
  const { pool } = rig.database
  const runId = await rig.endedRun()
  await pool.query(
    `update sync.runs set status = 'running', finished_at = null where run_id = $1`,
    [runId],
  )
  for (const key of [1, 2]) {
    await pool.query(
      `insert into sync.held (run_id, batch_key, kind, scope_key, organization_id, document_id, users_before,
        content_digest, missing_user_ids)
      values ($1, 1, 'document', $2, 'acme', 'plan', 10, '\\x00', array['u1', 'u2', 'u3'])`,
      [runId, key],
    )
  }
  await lookTogether(three)
  expect(told()).toEqual([])

  await pool.query(
    `update sync.runs set status = 'succeeded', finished_at = now() where run_id = $1`,
    [runId],
  )
  await lookTogether(three)
  expect(told()).toMatchObject([
    { type: 'held.waiting', data: { runId, listings: 2, usersMissing: 6 } },
  ])
  expect(JSON.stringify(told())).not.toContain('u1')

  await pool.query(
    `update sync.held set resolved_at = now(), resolution = 'accepted' where scope_key = 1`,
  )
  await lookTogether(three)
  expect(told()).toHaveLength(1)
  await pool.query(`update sync.held set resolved_at = now(), resolution = 'accepted'`)
  await lookTogether(three)
  expect(told()[1]).toMatchObject({ type: 'held.settled' })
  expect(told()).toHaveLength(2)
})

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

test('freshness that passes its promise is told once, and once more when it is kept again', async () => {
  const { pool } = rig.database
  await pool.query(`insert into collab_store.organizations (organization_id) values ('acme')`)
  await pool.query(
    `insert into collab_store.batches (organization_key, operation, batch_no, scopes, checked_at)
    select organization_key, 'users', 0, 1, now() - interval '27 hours' from collab_store.organizations`,
  )
  await lookTogether(three)
  expect(told()).toMatchObject([{ type: 'freshness.passed', data: { promiseS: 93_600 } }])
  await pool.query(`update collab_store.batches set checked_at = now() - interval '28 hours'`)
  await lookTogether(three)
  expect(told()).toHaveLength(1)
  await pool.query('update collab_store.batches set checked_at = now()')
  await lookTogether(three)
  expect(told()[1]).toMatchObject({ type: 'freshness.recovered' })
  await pool.query(`update collab_store.batches set checked_at = now() - interval '29 hours'`)
  await lookTogether(three)
  expect(told().map(({ type }) => type)).toEqual([
    'freshness.passed',
    'freshness.recovered',
    'freshness.passed',
  ])
})

test('nobody looks more often than is asked for, whoever looks', async () => {
  const patient = rig.notifier({ secondsBetween: 3600 })
  expect([await patient.look(), await patient.look()]).toEqual([true, false])
  expect(await rig.notifier({ secondsBetween: 3600 }).look()).toBe(false)
})
