import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Notifier } from '../../src/features/notify/notifier.ts'
import { startReceiver } from './receiver-server.ts'
import type { ReceiverServer } from './receiver-server.ts'
import { openRig } from './rig.ts'
import type { Rig } from './rig.ts'

/** What is reported as it happens: runs, and records that the service sends otherwise than before. */

let receiver: ReceiverServer
let rig: Rig
let notifier: Notifier
/** What the receiver took since the test began. */
let told: () => { type: string; data: Record<string, unknown> }[]
const types = () => told().map(({ type }) => type)
const sql = async (text: string, values: unknown[] = []) =>
  (await rig.database.pool.query(text, values)).rows

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
  notifier = rig.notifier()
  const before = receiver.received.length
  told = () => receiver.received.slice(before).map(({ body }) => body)
  await watchSince(48)
})

/** Looks twice, so that what is resolved is reported, and delivers. */
async function look(): Promise<void> {
  await notifier.look()
  await notifier.look()
  await notifier.deliver()
}

/** As if somebody had looked for so many hours. */
async function watchSince(hours: number): Promise<void> {
  await sql('update sync.notify_watch set watching_since = now() - make_interval(hours => $1)', [
    hours,
  ])
}

test('a failed and a cancelled run are reported, but no other, and none of hints', async () => {
  const runId = await rig.endedRun({ status: 'failed', failed: 10 })
  await rig.endedRun({ status: 'cancelled', asked: 1 })
  await rig.endedRun({ status: 'partial', failed: 1 })
  await rig.endedRun()
  await rig.endedRun({ status: 'failed', trigger: 'hint', failed: 10 })
  await look()
  expect(types().toSorted()).toEqual(['run.cancelled', 'run.failed'])
  const failed = told().find(({ type }) => type === 'run.failed')
  expect(failed?.data).toMatchObject({ runId, scopesFailed: 10 })
})

test('what ended before anybody looked, or more than a day ago, is not reported', async () => {
  await rig.endedRun({ status: 'failed', failed: 10, asked: 30, ended: 25 })
  await look()
  await watchSince(1)
  await rig.endedRun({ status: 'failed', failed: 10, asked: 3, ended: 2 })
  await look()
  expect(told()).toEqual([])
})

test('what the service sends otherwise than before is reported once, and nothing of before anybody watched', async () => {
  const notice = (member: string, hoursAgo: number) =>
    sql(
      `insert into sync.member_changes (object, path, change, types, noticed_at)
      values ('comment', array['data', $1], 'new', '{number}', now() - make_interval(hours => $2))`,
      [member, hoursAgo],
    )
  await notice('old', 50)
  await look()
  expect(told()).toEqual([])
  await notice('severity', 0)
  await notice('due.at', 0)
  await look()
  await look()
  expect(told()).toMatchObject([
    {
      type: 'members.changed',
      data: {
        members: 2,
        first: [
          { object: 'comment', member: 'data.severity', change: 'new', types: ['number'] },
          { member: 'data."due.at"' },
        ],
      },
    },
  ])
})

test('nobody looks more often than is asked for, whoever looks', async () => {
  const patient = rig.notifier({ secondsBetween: 3600 })
  expect([await patient.look(), await patient.look()]).toEqual([true, false])
  expect(await rig.notifier({ secondsBetween: 3600 }).look()).toBe(false)
})
