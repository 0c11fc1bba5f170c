import { beforeEach, expect, test } from 'vitest'
import * as definitions from '../../src/core/database/statements/definitions.ts'
import { reportingRig } from './rig.ts'

/** What is reported of nightly runs: one that does not start, and one that takes far longer than usual. */

const on = reportingRig()
const { types, sql, check } = on

beforeEach(async () => {
  await note(11)
  await sql(`update collab_store.definitions set schedule_since = now() - interval '9 days'`)
})

/** As a worker notes the schedule: due so many hours ago, and every day. */
async function note(hoursAgo: number, schedule = '0 2 * * * UTC'): Promise<void> {
  const due = (days: number) =>
    new Date(Date.now() - (hoursAgo - 24 * days) * 3_600_000).toISOString()
  await sql('delete from sync.nightly_due')
  await definitions.setSchedule.run(on.rig.database.pool, {
    schedule,
    timeZone: 'UTC',
    days: [],
    dueTimes: [0, 1, 2].map(due),
    lateAfterS: 1800,
  })
  await sql(
    `insert into sync.workers (worker_id, started_at, heartbeat_at, calls_in_flight, calls_limit)
    values ('w1', now(), now(), 0, 8) on conflict do nothing`,
  )
}

test('a nightly run that does not start is reported once, and when one has started', async () => {
  await check()
  await check()
  expect(types()).toEqual(['nightly.missed'])
  const runId = await on.rig.endedRun({ trigger: 'schedule' })
  await check()
  expect(types()).toEqual(['nightly.missed', 'nightly.recovered'])
  await sql('delete from sync.runs where run_id = $1', [runId])
  await check()
  expect(types().slice(2)).toEqual(['nightly.missed'])
})

test.each([
  ['that is not late yet', () => note(0.4)],
  ['before the schedule was known or set anew', () => note(11, '0 3 * * * UTC')],
  ['that started', () => on.rig.endedRun({ trigger: 'schedule', asked: 11, ended: 10 })],
  [
    'while the one before is still under way',
    async () => {
      const runId = await on.rig.endedRun({ trigger: 'schedule', asked: 20 })
      await sql(`update sync.runs set status = 'running', finished_at = null where run_id = $1`, [
        runId,
      ])
    },
  ],
])('a nightly run %s is not missing', async (_, act) => {
  await act()
  await check()
  expect(types()).toEqual([])
})

test('a night that comes while no worker is alive is missing as well', async () => {
  await on.rig.endedRun({ trigger: 'schedule', asked: 35, ended: 34 })
  await note(35)
  await sql('delete from sync.workers')
  await sql(`update collab_store.definitions set worker_left_at = now() - interval '20 hours'`)
  await check()
  expect(types().toSorted()).toEqual(['nightly.missed', 'worker.none'])
})

test('a nightly run beyond its usual time, without a pause, is reported once, and that it has finished', async () => {
  for (const hours of [73, 49, 25])
    await on.rig.endedRun({ trigger: 'schedule', asked: hours, ended: hours - 1 })
  const runId = await on.rig.endedRun({ trigger: 'schedule' })
  const begun = (minutesAgo: number) =>
    sql(
      `update sync.runs set status = 'running', finished_at = null, requested_at = now() - make_interval(mins => $2)
      where run_id = $1`,
      [runId, minutesAgo],
    )
  await begun(100)
  await check()
  expect(types()).toEqual([])
  await begun(150)
  await sql(
    `insert into sync.pauses (paused_at, paused_until, paused_by)
    values (now() - interval '2 hours', now() - interval '1 hour', 'ann')`,
  )
  await check()
  expect(types()).toEqual([])
  await sql('delete from sync.pauses')
  await check()
  expect(types()).toEqual(['nightly.late'])
  await sql(`update sync.runs set status = 'succeeded', finished_at = now() where run_id = $1`, [
    runId,
  ])
  await check()
  expect(types()).toEqual(['nightly.late', 'nightly.recovered'])
})
