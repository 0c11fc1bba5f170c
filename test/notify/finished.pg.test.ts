import { beforeEach, expect, test } from 'vitest'
import type { ReceiverAddress } from '../../src/schemas/notification-type.ts'
import { startReceiver } from './receiver-server.ts'
import type { ReceiverServer } from './receiver-server.ts'
import { lookTogether, openRig } from './rig.ts'
import type { Rig } from './rig.ts'

/** `run.finished`, for the receivers that name it in `#events=`. */

let receiver: ReceiverServer
let other: ReceiverServer
let rig: Rig
let asking: ReceiverAddress

const sql = async (text: string, values: unknown[] = []) => rig.database.rows(text, ...values)
const messages = ({ received }: ReceiverServer) => received.map(({ body }) => body)
const runs = () => messages(receiver).map(({ data }) => data['runId'])

beforeEach(async () => {
  receiver = await startReceiver()
  other = await startReceiver()
  asking = { shape: 'json', url: `${receiver.url}/hook`, events: ['run.finished'] }
  rig = await openRig([asking, { shape: 'json', url: `${other.url}/hook` }])
  await rig.notifier().check()
})

test('each run that finishes is sent once, whatever its status, and only to the receiver that asked', async () => {
  const finished = []
  for (const trigger of ['schedule', 'cli', 'http', 'api'])
    finished.push(await rig.endedRun({ trigger }))
  for (const status of ['partial', 'failed', 'cancelled'])
    finished.push(await rig.endedRun({ status, failed: 1 }))
  for (const trigger of ['hint', 'refresh']) await rig.endedRun({ trigger })
  await lookTogether([rig.notifier(), rig.notifier(), rig.notifier()])
  await lookTogether([rig.notifier()])
  expect(runs().toSorted()).toEqual(finished.toSorted())
  expect(new Set(messages(receiver).map(({ type }) => type))).toEqual(new Set(['run.finished']))
  // Runs that ended between two checks are sent in any order.
  const types = messages(other).map(({ type }) => type)
  expect(types.toSorted()).toEqual(['run.cancelled', 'run.failed'])
})

/** A run of everything whose first batch was claimed at a known time. */
async function endedWithItem(): Promise<string> {
  const runId = await rig.endedRun({ asked: 1 })
  await sql(
    `insert into sync.run_items (run_id, kind, state, claimed_at)
    values ($1, 'sync-batch', 'done', '2026-11-28 02:00:01Z')`,
    [runId],
  )
  return runId
}

test.each([
  ['that is partial', `status = 'partial'`],
  ['of one organization', `scope = '{"organizationIds": ["acme"]}'`],
  ['that retries another', 'retry_of = gen_random_uuid()'],
  ['of failing scopes', 'failing = true'],
])('a run %s says nothing of the time up to which the tables are complete', async (_, change) => {
  await endedWithItem()
  await sql(`update sync.runs set ${change}`)
  await lookTogether([rig.notifier()])
  expect(messages(receiver)).toMatchObject([{ data: { completeUpTo: null } }])
})

test('the message has status, trigger, scope, counts, duration and the time up to which the tables are complete', async () => {
  const whole = await endedWithItem()
  await sql(`update sync.runs set comments_written = 7, started_at = finished_at - interval '90 s'`)
  const scope = { organizationIds: ['acme'] }
  const narrow = await rig.endedRun({ status: 'partial', failed: 3, trigger: 'http', scope })
  await sql(`insert into sync.actions (by, action, run_id) values ('ann', 'run_requested', $1)`, [
    narrow,
  ])
  await lookTogether([rig.notifier()])
  expect(messages(receiver)).toMatchObject([
    {
      type: 'run.finished',
      data: {
        text: 'A run of everything in the catalog finished: succeeded.',
        action: `\`collab-sync status ${whole}\` shows the run.`,
        status: 'succeeded',
        trigger: 'cli',
        scope: {},
        completeUpTo: '2026-11-28T02:00:01.000Z',
        durationMs: 90_000,
        scopesSucceeded: 10,
        commentsWritten: 7,
      },
    },
    {
      data: {
        text: 'A run of organization acme, requested by ann, finished: partial.',
        status: 'partial',
        scope,
        completeUpTo: null,
        scopesFailed: 3,
      },
    },
  ])
})

test('a receiver gets no run that finished before it was first seen with the type', async () => {
  await rig.endedRun()
  const url = `${other.url}/later`
  const later: ReceiverAddress = { shape: 'json', url, events: ['run.finished'] }
  const notifier = rig.notifier({ notifyUrls: [asking, later] })
  await lookTogether([notifier])
  expect(runs()).toHaveLength(1)
  expect(other.received).toEqual([])
  // Nobody had asked for this type before.
  const alone = await openRig([later])
  await alone.endedRun()
  await lookTogether([alone.notifier()])
  expect(other.received).toEqual([])
  await rig.endedRun()
  await lookTogether([notifier])
  expect(other.received).toHaveLength(1)
})

test('a receiver that no process had for more than a day starts anew; an hour without it loses nothing', async () => {
  const seen = (age: string) =>
    sql(`update sync.notification_receivers set first_seen_at = now() - interval '9 days',
      last_seen_at = now() - interval '${age}'`)
  await seen('25 hours')
  await rig.endedRun()
  await lookTogether([rig.notifier()])
  expect(runs()).toEqual([])
  await seen('23 hours')
  const runId = await rig.endedRun()
  await lookTogether([rig.notifier()])
  expect(runs()).toContain(runId)
})

test('a receiver gets the types that it names, and no others', async () => {
  const events = ['run.cancelled', 'run.finished']
  const both = rig.notifier({
    notifyUrls: [{ shape: 'json', url: `${receiver.url}/both`, events }],
  })
  await both.check()
  await rig.endedRun({ status: 'cancelled' })
  await rig.endedRun({ status: 'failed', failed: 10 })
  await lookTogether([both])
  const types = messages(receiver).map(({ type }) => type)
  expect(types.toSorted()).toEqual(['run.cancelled', 'run.finished', 'run.finished'])
  // The fragment is not sent.
  expect(new Set(receiver.received.map(({ path }) => path))).toEqual(new Set(['/both']))
})

test('a run that is pruned before its message is sent is not sent', async () => {
  await rig.endedRun()
  await rig.notifier().check()
  await sql('delete from sync.runs')
  await lookTogether([rig.notifier()])
  expect(receiver.received).toEqual([])
})
