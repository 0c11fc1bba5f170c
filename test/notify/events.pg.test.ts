import { expect, test } from 'vitest'
import { reportingRig } from './rig.ts'

/** What is reported as it happens: runs, and records that the service sends otherwise than before. */

const on = reportingRig()
const { told, types, sql, watchSince, look } = on

test('a failed and a cancelled run are reported, but no other, and none of hints', async () => {
  const runId = await on.rig.endedRun({ status: 'failed', failed: 10 })
  await on.rig.endedRun({ status: 'cancelled', asked: 1 })
  await on.rig.endedRun({ status: 'partial', failed: 1 })
  await on.rig.endedRun()
  await on.rig.endedRun({ status: 'failed', trigger: 'hint', failed: 10 })
  await look()
  expect(types().toSorted()).toEqual(['run.cancelled', 'run.failed'])
  const failed = told().find(({ type }) => type === 'run.failed')
  expect(failed?.data).toMatchObject({ runId, scopesFailed: 10 })
})

test('what ended before anybody looked, or more than a day ago, is not reported', async () => {
  await on.rig.endedRun({ status: 'failed', failed: 10, asked: 30, ended: 25 })
  await look()
  await watchSince(1)
  await on.rig.endedRun({ status: 'failed', failed: 10, asked: 3, ended: 2 })
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
  const patient = on.rig.notifier({ secondsBetween: 3600 })
  expect([await patient.look(), await patient.look()]).toEqual([true, false])
  expect(await on.rig.notifier({ secondsBetween: 3600 }).look()).toBe(false)
})
