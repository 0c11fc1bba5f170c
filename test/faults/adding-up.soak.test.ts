import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { stopRun } from '../../src/core/run/stop.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { openLoaded, settled, startOn } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { until } from '../helpers/until.ts'

let live: Live
beforeEach(async () => {
  live = await openLoaded('postgres')
})

const UNSOUND = {
  'a scope more than planned': 'scopes_succeeded = scopes_succeeded + 1',
  'a scope that failed under succeeded':
    'scopes_failed = 1, scopes_succeeded = scopes_succeeded - 1',
  'a held scope under succeeded': 'scopes_held = 1, scopes_succeeded = scopes_succeeded - 1',
  'a skipped scope under succeeded': 'scopes_skipped = 1, scopes_succeeded = scopes_succeeded - 1',
  'a record received that went nowhere': 'records_received = records_received + 1',
  'a record counted twice': 'records_inserted = records_inserted + 1',
  'an end without a time': 'finished_at = null',
  'a time without an end': `status = 'running'`,
  'a problem under succeeded': `problem = 'something'`,
}

test('each count of a run is the sum of its items, what it wrote is there, and no other counts can be stored', async () => {
  const run = await live.run()
  const [stored] = await live.rows(`select
    (select count(*)::int from collab.comments) as comments, (select count(*)::int from collab.users) as users`)
  expect(run['comments_written']).toBe(stored?.['comments'])
  expect(run['users_written']).toBeGreaterThanOrEqual(Number(stored?.['users']))
  expect(run['annotations_done']).toBe(live.world.totals().annotations)
  expect(run['documents_done']).toBe(live.world.totals().documents)
  expect(run['organizations_done']).toBe(live.world.totals().organizations)
  for (const [what, change] of Object.entries(UNSOUND)) {
    const changed = live.rows(`update sync.runs set ${change} where run_id = $1`, run.run_id)
    await expect(changed, what).rejects.toThrow(/violates check constraint/)
  }
})

test('a run that is cancelled in mid-run ends cancelled with the rest skipped, and stays so', async () => {
  live.standIn.latencyMs = 150
  const worker = await live.openWorker()
  const runId = await worker.startRun()
  await until('calls were made', () => live.standIn.calls.total > 40 || null)
  expect(await stopRun(worker.app.sync, runId, 'cancelled', 'A person cancelled it.')).toBe(true)
  const run = await settled(live.database, runId)
  expect(run).toMatchObject({ status: 'cancelled', problem: 'A person cancelled it.' })
  expect(Number(run['scopes_skipped'])).toBeGreaterThan(0)
  await sleep(500)
  const calls = live.standIn.calls.total
  await sleep(1000)
  expect(live.standIn.calls.total).toBe(calls)
  expect(await live.rows('select * from sync.runs where run_id = $1', runId)).toEqual([run])
  live.standIn.latencyMs = 0
  const next = await worker.startRun()
  expect(await settled(live.database, next)).toMatchObject({ status: 'succeeded' })
  await worker.stop()
  await expectTablesEqual(live.database, live.world)
})

test('a run that is cancelled before any worker took it up ends cancelled with all of it skipped', async () => {
  const app = await live.openApp()
  const runId = await startOn(app, {
    organizationIds: [...live.world.organizationIds()].slice(0, 1),
  })
  await stopRun(app.sync, runId, 'cancelled', 'A person cancelled it.')
  expect(await settled(live.database, runId)).toMatchObject({ status: 'cancelled', calls: 0 })
})
